#include "posy/reconcile/session.hpp"

#include <algorithm>

#include "party.hpp"
#include "payload.hpp"
#include "posy/secret_hash.hpp"
#include "reconcile/coded_symbols.hpp"
#include "reconcile/difference_sketch.hpp"
#include "set_part.hpp"
#include "strategy.hpp"

namespace posy::reconcile {

result<hasher> fresh_hasher() {
    const auto random = hash::random_seed();
    if (!random) return random.error();
    constexpr std::uint64_t highest = std::uint64_t{1} << 34;  // always set: messages are of one length
    return hasher(hash_family::siphash, {highest | (random->low & (highest - 1))});
}

namespace {

class asker final : public session::party {
  public:
    using party::party;

    result<void> open() {
        if (auto valid = check(mine_->hash()); !valid) return valid;
        if (how_.fetch && !owner_.digest_of)
            return error::invalid("texts can be fetched only by who can hash them");
        if (how_.method != method::exact) {
            awaited_ = step::summary;
            return post_summary(how_.method);
        }
        awaited_ = step::symbols;
        post(kind::sketch, difference_sketch::of(*mine_));
        return {};
    }

  private:
    result<void> take(const envelope& e) override {
        switch (awaited_) {
            case step::symbols:
                return e.kind() == kind::list ? take_part(e) : take_symbols(e);
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
            case step::wants: {
                awaited_ = step::nothing;
                const auto wanted = take_wants(e);
                return wanted ? result<void>() : wanted.error();
            }
            case step::opening:
            case step::nothing:
                break;
        }
        __builtin_unreachable();  // this side opens, and a session that is done takes nothing
    }

    result<void> take_symbols(const envelope& e) {
        if (auto due = expect(e, kind::symbols); !due) return due;
        const auto run = symbol_run::parse(e.hash(), e.payload(), how_.limits);
        if (!run) return run.error();
        if (listed_ == 0 && !decoder_) found_.items_there = run->items;
        if (run->items != left_there() || run->symbols.empty() || (asked_ && run->end() != *asked_))
            return error::mismatch("other symbols than were asked for; is the peer of another version?");
        if (!decoder_) decoder_.emplace(*left_);
        if (auto received = decoder_->receive(*run); !received) return received;
        found_.symbols = decoder_->position();
        if (!decoder_->complete()) return ask_for_more();
        append(found_.only_here, decoder_->only_here());
        append(found_.only_there, decoder_->only_there());
        std::ranges::sort(found_.only_here, ascending{});
        std::ranges::sort(found_.only_there, ascending{});
        return tell(), result<void>();
    }

    result<void> ask_for_more() {
        const std::uint64_t have = decoder_->position();
        const std::uint64_t most = std::min(how_.limits.max_bytes / sizeof(coded_symbol), max_symbols);
        if (have >= most) {
            return error::damaged("no difference explains " + std::to_string(have) +
                                  " coded symbols; they are damaged, or the difference is above the limit");
        }
        const double d = decoder_->estimate_difference().value;
        return ask_for(std::min(most, strategy_.more_symbols(d, have, questions_++, left_there())));
    }

    // Symbols up to this one, or with 0 the rest of the list.
    result<void> ask_for(std::uint64_t until) {
        asked_ = until;
        std::vector<std::byte> payload;
        base::put_varint(payload, until);
        post(kind::more, byte_view(payload));
        return {};
    }

    // A part of the list: what is up to its last element is settled, and out of both sets.
    result<void> take_part(const envelope& e) {
        const auto part = set_part::parse(e.hash(), e.payload(), how_.limits);
        if (!part) return part.error();
        if (auto kin = check_kin(*mine_, part->hash, part->width); !kin) return kin;
        if (listed_ == 0 && !decoder_) found_.items_there = part->items;
        const bool all = part->end() == part->items;
        if (part->items != found_.items_there || part->first != listed_ || (asked_ && !all) ||
            (part->elements.empty() && !all) || !beyond_listed(part->elements))
            return error::mismatch(
                "another part of the list than was asked for; is the peer of another version?");
        const auto mine = left_->elements();
        const auto end =
            all ? mine.end() : std::ranges::upper_bound(mine, part->elements.back(), ascending{});
        const std::span<const digest> settled(mine.begin(), end);
        append(found_.only_here, without(settled, part->elements));
        append(found_.only_there, without(part->elements, settled));
        found_.listed = part->end();
        if (all) return tell(), result<void>();
        listed_ = part->end();
        last_listed_ = part->elements.back();
        rest_.emplace(mine_->hash(), mine_->width(), std::vector(end, mine.end()));
        left_ = &*rest_;
        return ask_for(strategy_.first_symbols(difference_left(), left_there()));
    }

    // As many of the rest as there were of the part, and at least the difference of the sizes.
    double difference_left() const {
        const auto there = static_cast<double>(left_there()), here = static_cast<double>(left_->size());
        const auto found = static_cast<double>(found_.only_here.size() + found_.only_there.size());
        return std::max(found / static_cast<double>(listed_) * there, std::abs(there - here));
    }
    bool beyond_listed(std::span<const digest> elements) const {
        return listed_ == 0 || elements.empty() || ascending{}(last_listed_, elements.front());
    }
    std::uint64_t left_there() const { return found_.items_there - listed_; }

    static void append(std::vector<digest>& to, std::span<const digest> elements) {
        to.insert(to.end(), elements.begin(), elements.end());
    }

    void tell() {
        begin_telling(false);
        post_list(kind::offer, found_.only_here);
        const bool fetch = how_.fetch && !found_.only_there.empty();
        post_list(kind::want, fetch ? found_.only_there : std::vector<digest>());
        awaited_ = fetch ? step::texts : step::wants;
    }

    strategy strategy_{mine_->width()};
    std::uint64_t listed_ = 0;  // elements of the peer
    digest last_listed_{};
    std::optional<digest_set> rest_;  // what of the own ones is not settled by those
    const digest_set* left_ = mine_;  // it, or all
    std::optional<symbol_decoder> decoder_;
    std::optional<std::uint64_t> asked_;  // as in ask_for()
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
            case step::wants:
                return tell(e);
            case step::summary:
            case step::nothing:
                break;
        }
        __builtin_unreachable();  // only the other side waits for a summary, and none waits at the end
    }

    result<void> take_sketch(const envelope& e) {
        const auto theirs = difference_sketch::parse(e.hash(), e.payload(), how_.limits);
        if (!theirs) return theirs.error();
        if (auto kin = check_kin(*mine_, theirs->hash, theirs->width); !kin) return kin;
        found_.items_there = theirs->items;
        const double d = estimate_difference(*theirs, difference_sketch::of(*mine_)).value;
        const std::uint64_t listed = strategy_.first_listed(d, mine_->size());
        exact_ = true;
        if (listed > 0 || mine_->size() == 0) return post_list_up_to(listed);
        encoder_.emplace(*mine_);
        awaited_ = step::symbols;
        return post_symbols(strategy_.first_symbols(d, mine_->size()));
    }

    result<void> take_more(const envelope& e) {
        payload_reader in(e.payload());
        const std::uint64_t until = in.varint();
        if (auto wrong = in.finish()) return *wrong;
        if (until > 0 && encoder_ && until <= encoder_->position())
            return error::mismatch("the peer asks again for symbols that it has; is it of another version?");
        if (until > 0 && !encoder_) {
            const auto rest = mine_->elements().subspan(listed_);
            rest_.emplace(mine_->hash(), mine_->width(), std::vector(rest.begin(), rest.end()));
            encoder_.emplace(*rest_);
        }
        // No answer is longer than the list. An answer costs a pass over the set, and an honest peer asks for
        // more symbols each time: after this many questions, the list is the answer.
        constexpr unsigned most_questions = 64;
        const std::uint64_t list = (mine_->size() - listed_) * bytes_of(mine_->width());
        if (until == 0 || ++questions_ > most_questions ||
            until - encoder_->position() > list / symbol_bytes(mine_->width()))
            return post_list_up_to(mine_->size());
        return post_symbols(until);
    }

    result<void> post_symbols(std::uint64_t until) {
        found_.symbols = until;
        post(kind::symbols, encoder_->next(until - encoder_->position()));
        return {};
    }

    result<void> post_list_up_to(std::uint64_t end) {
        post(kind::list, set_part::of(*mine_, listed_, end));
        listed_ = found_.listed = end;
        awaited_ = end == mine_->size() ? step::offer : step::symbols;
        return {};
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
        // With the exact method this is the only way for this side to learn what only it has.
        if (exact_) found_.only_here = std::move(*wanted);
        const bool fetch = how_.fetch && owner_.digest_of && !found_.only_there.empty();
        post_list(kind::want, fetch ? found_.only_there : std::vector<digest>());
        awaited_ = fetch ? step::texts : step::nothing;
        return {};
    }

    strategy strategy_{mine_->width()};
    bool exact_ = false;
    unsigned questions_ = 0;
    std::uint64_t listed_ = 0;
    std::optional<digest_set> rest_;  // what is not listed
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
