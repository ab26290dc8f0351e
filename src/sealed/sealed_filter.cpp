#include "posy/sealed_filter.hpp"

#include <cassert>

#include "sealed/build.hpp"
#include "sealed/ribbon.hpp"

namespace posy {

result<sealed_filter> sealed_filter::make(hasher hash, std::span<const digest> digests,
                                          sealed_options options) {
    if (options.rate == 1) return error::invalid("a filter of rate 1 says yes to everything; ask for less");
    auto made = sealed::build(digests, {}, 0, options.rate, options.threads);
    if (!made) return made.error();
    const byte_view payload = made->bytes();
    return open(hash, std::make_shared<const sealed::built>(std::move(*made)), payload);
}

result<sealed_filter> sealed_filter::open(hasher hash, std::shared_ptr<const void> keep_alive,
                                          byte_view payload) {
    auto opened = sealed::ribbon::open(std::move(keep_alive), payload);
    if (!opened) return opened.error();
    if (opened->value_bits() != 0) return error::damaged("this is a map, with values; open it as one", 1);
    return sealed_filter(hash, std::make_shared<const sealed::ribbon>(std::move(*opened)));
}

std::uint64_t sealed_filter::items() const { return set_->items(); }
double sealed_filter::false_positive_rate() const { return set_->rate(); }
byte_view sealed_filter::bytes() const { return set_->bytes(); }
bool sealed_filter::may_contain(digest d) const { return set_->holds(d); }

std::size_t sealed_filter::may_contain(std::span<const digest> digests, std::span<bool> answers) const {
    assert(digests.size() == answers.size());
    std::size_t yes = 0;
    set_->each_held(digests, [&](std::size_t i, bool answer) { yes += answers[i] = answer; });
    return yes;
}

}  // namespace posy
