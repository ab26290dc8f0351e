// stored::info(): what a message is, as an object in JSON. Names are those of posy info --json.
#include <array>
#include <charconv>
#include <cmath>

#include "posy/estimate.hpp"
#include "stored.hpp"

namespace posy::sqlite {
namespace {

// Names and texts are our own, so nothing has to be escaped.
class json_object {
  public:
    void add(std::string_view name, std::string_view text) { put(name, '"' + std::string(text) + '"'); }
    void add(std::string_view name, std::uint64_t number) { put(name, std::to_string(number)); }
    void add(std::string_view name, double number) { put(name, digits(number)); }
    void add(std::string_view name, std::optional<std::uint64_t> number) {
        put(name, number ? std::to_string(*number) : "null");
    }
    void add(std::string_view name, const estimate& e) {
        put(name, "{\"value\":" + digits(e.value) + ",\"low\":" + digits(e.low) +
                      ",\"high\":" + digits(e.high) + "}");
    }
    std::string text() const { return "{" + fields_ + "}"; }

  private:
    void put(std::string_view name, const std::string& value) {
        fields_ += (fields_.empty() ? "\"" : ",\"") + std::string(name) + "\":" + value;
    }
    // JSON has no infinity, which a full array's estimate is.
    static std::string digits(double number) {
        if (!std::isfinite(number)) return "null";
        std::array<char, 32> buffer{};
        return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr};
    }

    std::string fields_;
};

void describe(json_object& to, const geometry& g) {
    to.add("bits", g.bits);
    to.add("hashes", std::uint64_t{g.hashes});
    to.add("layout", name_of(g.layout));
}

void describe(json_object& to, const bloom_filter& filter) {
    describe(to, filter.geometry());
    const auto planned = filter.provenance().planned;
    if (planned) {
        to.add("planned_items", planned->items);
        to.add("planned_false_positive_rate", planned->rate);
    }
    to.add("items", filter.items());
    to.add("estimated_items", estimate_items(filter));
    to.add("fill", filter.fill());
}

void describe(json_object& to, const count_min& sketch) {
    to.add("width", sketch.width());
    to.add("depth", std::uint64_t{sketch.depth()});
    to.add("total", sketch.total());
    to.add("error_bound", sketch.error_bound());
}

template <class Body>
void describe(json_object& to, const Body& body) {
    if constexpr (requires { body.projection().ones(); }) {
        describe(to, body.projection());
    } else {
        if constexpr (requires { body.geometry(); }) describe(to, body.geometry());
        if constexpr (requires { body.sketch(); }) describe(to, body.sketch());
        if constexpr (requires { body.value_bits(); }) to.add("value_bits", std::uint64_t{body.value_bits()});
        if constexpr (requires { body.items(); }) to.add("items", body.items());
    }
}

}  // namespace

std::string stored::info() const {
    json_object to;
    to.add("kind", name_of(kind_of(body_)));
    if (hash_) to.add("hash", name_of(hash_->family()));
    std::visit([&](const auto& body) { describe(to, body); }, body_);
    if (const auto now = rate()) to.add("false_positive_rate", *now);
    to.add("message_bytes", size_);
    return to.text();
}

}  // namespace posy::sqlite
