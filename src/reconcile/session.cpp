#include "posy/reconcile/session.hpp"

#include <algorithm>
#include <cmath>

#include "party.hpp"
#include "payload.hpp"
#include "posy/reconcile/coded_symbols.hpp"
#include "posy/reconcile/difference_sketch.hpp"
#include "posy/reconcile/theory.hpp"

namespace posy::reconcile {
namespace {

// How many symbols there should be in all after so many questions. Where a few elements hide behind each
// other, only many more help: the steps grow.
double enough_symbols(const symbol_decoder& decoder, unsigned questions) {
    const auto have = static_cast<double>(decoder.position());
    const double step = std::ldexp(std::max(have / 32, 4.0), static_cast<int>(std::min(questions, 6u)));
    return std::max(theory::enough_symbols(decoder.estimate_difference().value, have), have + step);
}

constexpr std::array methods{std::pair{method::exact, std::string_view("exact")},
                             std::pair{method::filter, std::string_view("filter")},
                             std::pair{method::tree, std::string_view("tree")}};

}  // namespace

std::string_view name_of(method how) {
    return std::ranges::find(methods, how, [](auto& entry) { return entry.first; })->second;
}

std::optional<method> method_named(std::string_view name) {
    const auto* found = std::ranges::find(methods, name, [](auto& entry) { return entry.second; });
    return found == methods.end() ? std::nullopt : std::optional(found->first);
}

namespace {

class asker final : public session::party {
  public:
    using party::party;

    result<void> open() {
        if (auto valid = check(mine_->hash()); !valid) return valid;
        if (how_.fetch && !owner_.digest_of) return error{"texts can be fetched only by who can hash them"};
        if (how_.method != method::exact) {
            awaited_ = step::summary;
            return post_summary(how_.method);
        }
        awaited_ = step::symbols;
        decoder_.emplace(*mine_);
        post(kind::sketch, difference_sketch::of(*mine_));
        return {};
    }

  private:
    result<void> take(const envelope& e) override {
        switch (awaited_) {
            case step::symbols:
                return e.kind() == kind::everything ? take_everything(e) : take_symbols(e);
            case step::summary:
                awaited_ = step::offer;
                if (auto due = expect(e, how_.method == method::filter ? kind::filter : kind::tree); !due)
                    return due;
                return take_summary(e);
            case step::offer:
                if (auto taken = take_offer(e); !taken) return taken;
                return tell(), result<void>();
            case step::texts:
                awaited_ = step::wants;
                return take_texts(e);
            default: {
                awaited_ = step::nothing;
                const auto wanted = take_wants(e);
                return wanted ? result<void>() : wanted.error();
            }
        }
    }

    result<void> take_symbols(const envelope& e) {
        if (auto due = expect(e, kind::symbols); !due) return due;
        const auto run = symbol_run::parse(e.hash(), e.payload(), how_.limits);
        if (!run) return run.error();
        if (decoder_->position() == 0) found_.items_there = run->items;
        if (run->items != found_.items_there || run->symbols.empty() || (asked_ != 0 && run->end() != asked_))
            return error{"other symbols than were asked for; is the peer of another version?"};
        if (auto received = decoder_->receive(*run); !received) return received;
        found_.symbols = decoder_->position();
        if (!decoder_->complete()) return ask_for_more();
        found_.only_here.assign(decoder_->only_here().begin(), decoder_->only_here().end());
        found_.only_there.assign(decoder_->only_there().begin(), decoder_->only_there().end());
        std::ranges::sort(found_.only_here, ascending{});
        std::ranges::sort(found_.only_there, ascending{});
        return tell(), result<void>();
    }

    result<void> ask_for_more() {
        // Twice as many as there are elements are enough for any difference.
        const double most = std::min(
            2 * (static_cast<double>(mine_->size()) + static_cast<double>(found_.items_there)) + 64,
            static_cast<double>(std::min(how_.limits.max_bytes / sizeof(coded_symbol), max_symbols)));
        const auto have = static_cast<double>(decoder_->position());
        if (have >= most) {
            return error{"no difference explains " + std::to_string(decoder_->position()) +
                         " coded symbols; they are damaged, or the difference is above the limit"};
        }
        asked_ =
            static_cast<std::uint64_t>(std::min(std::ceil(enough_symbols(*decoder_, questions_++)), most));
        std::vector<std::byte> until;
        base::put_varint(until, asked_);
        post(kind::more, byte_view(until));
        return {};
    }

    result<void> take_everything(const envelope& e) {
        const auto theirs = list(e);
        if (!theirs) return theirs.error();
        found_.items_there = theirs->size();
        found_.only_here = without(mine_->elements(), theirs->elements());
        found_.only_there = without(theirs->elements(), mine_->elements());
        return tell(), result<void>();
    }

    void tell() {
        begin_telling(false);
        post_list(kind::offer, found_.only_here);
        const bool fetch = how_.fetch && !found_.only_there.empty();
        post_list(kind::want, fetch ? found_.only_there : std::vector<digest>());
        awaited_ = fetch ? step::texts : step::wants;
    }

    std::optional<symbol_decoder> decoder_;
    std::uint64_t asked_ = 0;  // up to which symbol
    unsigned questions_ = 0;
};

class answerer final : public session::party {
  public:
    using party::party;

  private:
    result<void> take(const envelope& e) override {
        switch (awaited_) {
            case step::opening:
                return e.kind() == kind::sketch ? take_sketch(e) : answer_summary(e);
            case step::symbols:
                if (e.kind() == kind::more) return take_more(e);
                [[fallthrough]];
            case step::offer:
                begin_telling(true);
                awaited_ = step::wants;
                return take_offer(e);
            case step::texts:
                awaited_ = step::nothing;
                return take_texts(e);
            default:
                return tell(e);
        }
    }

    result<void> take_sketch(const envelope& e) {
        const auto theirs = difference_sketch::parse(e.hash(), e.payload(), how_.limits);
        if (!theirs) return theirs.error();
        if (auto kin = check_kin(*mine_, theirs->hash, theirs->width); !kin) return kin;
        found_.items_there = theirs->items;
        awaited_ = step::symbols;
        encoder_.emplace(*mine_);
        const estimate difference = estimate_difference(*theirs, difference_sketch::of(*mine_));
        post_symbols(std::ceil(theory::first_symbols(difference.value)));
        return {};
    }

    result<void> take_more(const envelope& e) {
        payload_reader in(e.payload());
        const std::uint64_t until = in.varint();
        if (until <= encoder_->position()) in.fail("the peer asks again for symbols that it has");
        if (auto wrong = in.finish()) return *wrong;
        post_symbols(static_cast<double>(until));
        return {};
    }

    // Symbols up to `until`, or the whole set if that is shorter.
    void post_symbols(double until) {
        const auto whole = static_cast<double>(mine_->size() * bytes_of(mine_->width()));
        if (until * static_cast<double>(symbol_bytes(mine_->width())) >= whole) {
            post(kind::everything, *mine_);
            awaited_ = step::offer;
            return;
        }
        found_.symbols = static_cast<std::uint64_t>(until);
        post(kind::symbols, encoder_->next(found_.symbols - encoder_->position()));
    }

    result<void> answer_summary(const envelope& e) {
        if (auto taken = take_summary(e); !taken) return taken;
        awaited_ = step::offer;
        if (auto posted = post_summary(e.kind() == kind::filter ? method::filter : method::tree); !posted)
            return posted;
        post_list(kind::offer, found_.only_here);
        return {};
    }

    result<void> tell(const envelope& e) {
        auto wanted = take_wants(e);
        if (!wanted) return wanted.error();
        // By coded symbols this side learns only so what it alone has.
        if (encoder_) found_.only_here = std::move(*wanted);
        const bool fetch = how_.fetch && owner_.digest_of && !found_.only_there.empty();
        post_list(kind::want, fetch ? found_.only_there : std::vector<digest>());
        awaited_ = fetch ? step::texts : step::nothing;
        return {};
    }

    std::optional<symbol_encoder> encoder_;
};

}  // namespace

result<session> session::ask(const digest_set& mine, const settings& how, key_owner owner) {
    auto party = std::make_unique<asker>(mine, how, std::move(owner));
    if (auto opened = party->open(); !opened) return opened.error();
    return session(std::move(party));
}

session session::answer(const digest_set& mine, const settings& how, key_owner owner) {
    return session(std::make_unique<answerer>(mine, how, std::move(owner)));
}

session::session(std::unique_ptr<party> p) : party_(std::move(p)) {}
session::session(session&&) noexcept = default;
session& session::operator=(session&&) noexcept = default;
session::~session() = default;

std::optional<std::vector<std::byte>> session::send() { return party_->send(); }
result<void> session::receive(byte_view message) { return party_->receive(message); }
bool session::done() const { return party_->done(); }
const outcome& session::found() const { return party_->found(); }

}  // namespace posy::reconcile
