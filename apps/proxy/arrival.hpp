// An answer that is being fetched for the store, and everyone who reads it while it comes.
//
// One filler appends at the origin's pace; any number of readers take what is there at their own. The bytes
// exist once, in the room of the store, and the slowest reader holds up nobody. Only an answer of unknown
// length can turn out not to fit. Then nobody else may join, and those who have begun are given the rest
// piece by piece: from there on the origin is read no faster than the slowest of them takes it, unless that
// one keeps another waiting for too long and is cut off.
//
// Invariant: every reader gets the bytes from the first one on, in their order, or learns that they broke
// off. Cost: a copy of each piece for each reader while it comes, none when all of it is here. Thread safety:
// the filler's calls come from one thread, a place belongs to one; both at the same time.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "node/bell.hpp"
#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/room.hpp"
#include "posy/http_cache/stored_response.hpp"

namespace posy::proxy {

class arrival : public std::enable_shared_from_this<arrival> {
  public:
    static constexpr std::size_t piece_size = 16 * 1024;

    // What is known when the head is here.
    struct opening {
        http_cache::response_head head;       // for the client whose request it answers
        http_cache::stored shown;             // as it will be stored, without the body: for everyone else
        std::optional<std::uint64_t> length;  // of the body
        bool fits = false;                    // it will be stored if it comes whole
    };

    // The body may have its first bytes already.
    arrival(opening, http_cache::incoming_body);

    const http_cache::response_head& head() const { return opening_.head; }
    const http_cache::stored& shown() const { return opening_.shown; }
    const std::optional<std::uint64_t>& length() const { return opening_.length; }
    bool fits() const { return opening_.fits; }

    struct part {
        std::string_view bytes{};  // valid as long as the part
        bool last = false;         // nothing follows, and that was all of it
        bool broken = false;       // the rest will not come
        bool stored = false;       // all of it is in the store

        bool nothing() const { return bytes.empty() && !last && !broken; }

        std::shared_ptr<const std::string> holder{};
    };

    // A reader's place. It is left when this is gone.
    class place {
      public:
        place(place&& other) noexcept : of_(std::move(other.of_)), at_(other.at_) {}
        place& operator=(place&&) = delete;
        ~place();
        arrival& of() const { return *of_; }
        // What comes next, as far as it is here.
        part next();

      private:
        friend class arrival;
        struct position {
            std::uint64_t at = 0;
            bool cut = false;
        };
        place(std::shared_ptr<arrival> of, std::list<position>::iterator at) : of_(std::move(of)), at_(at) {}
        std::shared_ptr<arrival> of_;
        std::list<position>::iterator at_;
    };
    // Nothing when it is too late: what came will not be stored, or it broke off.
    std::optional<place> join();
    std::size_t readers() const;

    // Of the length that was announced, if one was: has all of it come, or would so much more be all of it;
    // would it be too much?
    bool complete(std::uint64_t more = 0) const;
    bool exceeded_by(std::uint64_t more) const;
    // For the filler. False: there is no room for it; from now on the pieces are passed, this one first, each
    // when all have taken the one before.
    bool append(std::string_view piece);
    void pass(std::string piece);
    bool all_have_it();
    // Cuts off those that are behind while another has read all there is. False: there are none.
    bool cut_slowest();
    // All has come that will be stored: the body. Then, when it is in the store or could not be put there,
    // end().
    std::shared_ptr<const std::string> take();
    void end(bool stored);
    void break_off();

    // Rings when there is more to read; rings when a place has moved on.
    node::bell& news() { return news_; }
    node::bell& space() { return space_; }

  private:
    enum class state { coming, ended, broken };

    part next(place::position&);
    std::uint64_t size() const;
    std::uint64_t slowest() const;
    const opening opening_;
    mutable std::mutex mutex_;
    state state_ = state::coming;
    http_cache::incoming_body kept_;
    std::shared_ptr<const std::string> whole_;
    bool stored_ = false;
    bool passing_ = false;
    std::uint64_t begin_ = 0;  // of the piece; what is before it is in the body
    std::shared_ptr<const std::string> piece_ = std::make_shared<const std::string>();
    std::list<place::position> places_;
    node::bell news_, space_;
};

}  // namespace posy::proxy
