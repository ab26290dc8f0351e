// The body of an answer in chunks, taken apart (RFC 9112, 7.1), and the fields behind it.
//
// Beast's parser does that for requests, and is stricter than a proxy may be with origins: blanks behind the
// size of a chunk are common, and a trailer field that may not be there is to be ignored, not an error
// (RFC 9110, 6.5.1). What leaves open where the body ends is still refused: bare line feeds, signs, sizes
// beyond 64 bits, a chunk that is longer or shorter than it says.
//
// Invariant: trailer fields never become fields of the head. Cost: a copy of the body. Thread safety: as of
// any value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "posy/http_cache/fields.hpp"

namespace posy::http {

// May a field come behind a body? Not one that says where the body ends, who asks whom, how to treat the
// message, or what is in it: all that is known before.
bool may_trail(std::string_view name);

// The last chunk of a body, and the fields behind it.
std::string last_chunk(const http_cache::fields& trailers);

class chunks {
  public:
    // `body`: bytes of all chunks at most; `trailer`: bytes of the fields behind them; `fields`: their
    // number.
    struct most {
        std::uint64_t body;
        std::size_t trailer, fields;
    };

    // Appends to `body` what it can of the bytes, and says how many it has taken. A line that is not here to
    // its end is left. Throws refusal.
    std::size_t take(std::string_view bytes, std::string& body, const most&);
    bool done() const { return where_ == place::end; }
    const http_cache::fields& trailers() const { return trailers_; }

  private:
    enum class place { size, data, behind_data, trailer, end };
    std::size_t step(std::string_view bytes, std::string& body, const most&);  // 0: needs more
    void begin(std::string_view line, const most&);
    void add(std::string_view line, const most&);

    place where_ = place::size;
    std::uint64_t left_ = 0, all_ = 0;
    std::size_t trailer_bytes_ = 0, trailer_fields_ = 0;
    http_cache::fields trailers_;
};

}  // namespace posy::http
