#include "party.hpp"

#include <algorithm>

#include "base/reader.hpp"
#include "message/frame.hpp"
#include "posy/plan.hpp"
#include "reconcile/theory.hpp"
#include "summary.hpp"
#include "trie.hpp"

namespace posy::reconcile {
namespace {

double expected_of(const bloom_filter& filter) {
    const auto plan = predict(std::max<std::uint64_t>(filter.items().value_or(0), 1), filter.geometry());
    return plan ? theory::filter_found(plan->false_positive_rate) : 0;
}

// The peer's text, made safe for a terminal.
std::string printable(byte_view bytes) {
    constexpr std::size_t longest = 500;
    std::string text;
    for (const std::byte b : bytes.first(std::min(bytes.size(), longest))) {
        const char c = static_cast<char>(b);
        text.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c);
    }
    return text;
}

}  // namespace

std::optional<std::vector<std::byte>> session::party::send() {
    if (outbox_.empty()) return std::nullopt;
    auto message = std::move(outbox_.front());
    outbox_.pop_front();
    count().sent += message.size();
    waiting_ = true;
    return message;
}

result<void> session::party::receive(byte_view message) {
    if (done()) return error::mismatch("a message after the last one");
    if (waiting_) ++count().round_trips;
    waiting_ = false;
    last_received_ = message.size();
    count().received += last_received_;
    auto taken = open_and_take(message);
    if (!taken) {
        outbox_.clear();
        // Not under our hash: a message contains its seed, and the peer may have been refused because it did
        // not know the seed.
        outbox_.push_back(to_bytes(envelope(kind::refusal, hasher(), as_byte_view(taken.error().message))));
        awaited_ = step::nothing;
    }
    return taken;
}

result<void> session::party::open_and_take(byte_view message) {
    if (message.size() > how_.limits.max_bytes)
        return base::above_limit("a reconciliation message of", message.size(), how_.limits.max_bytes);
    const auto read = from_bytes(message, how_.limits);
    if (!read) return read.error();
    const auto* opened = std::get_if<envelope>(&read->body);
    if (!opened || read->size != message.size())
        return error::mismatch("not a reconciliation message; is there a 'posy reconcile' at the other end?");
    if (opened->kind() == kind::refusal)
        return error::mismatch("the peer gave up: " + printable(opened->payload()));
    // If both sides ask, each with a hash of its own, this is the actual mistake.
    if (opened->kind() == kind::sketch && awaited_ == step::symbols) return expect(*opened, kind::symbols);
    if (auto kin = check_kin(*mine_, opened->hash(), mine_->width()); !kin) return kin;
    auto taken = take(*opened);
    if (taken || !taken.error().offset) return taken;
    // Offsets in the payload become offsets in the message.
    const std::size_t start = message.size() - opened->payload().size() - frame::checksum_size;
    return taken.error().in_part_at(start);
}

void session::party::post(kind what, byte_view payload) {
    outbox_.push_back(to_bytes(envelope(what, mine_->hash(), payload)));
}

void session::party::post_list(kind what, const std::vector<digest>& elements) {
    post(what, digest_set(mine_->hash(), mine_->width(), elements));
}

result<void> session::party::expect(const envelope& e, kind what) const {
    if (e.kind() == what) return {};
    std::string text = "'";
    text.append(name_of(e.kind())).append("' where '").append(name_of(what));
    return error::mismatch(text + "' was due; is the peer of another version?");
}

result<digest_set> session::party::list(const envelope& e) const {
    auto set = digest_set::parse(e.hash(), e.payload(), how_.limits);
    if (!set) return set;
    if (auto kin = check_kin(*mine_, set->hash(), set->width()); !kin) return kin.error();
    return set;
}

result<void> session::party::take_offer(const envelope& e) {
    if (auto due = expect(e, kind::offer); !due) return due;
    const auto offered = list(e);
    if (!offered) return offered.error();
    for (const digest& element : offered->elements()) {
        if (mine_->contains(element))
            return error::mismatch("the peer offers what this side has already; is it of another version?");
    }
    found_.only_there.assign(offered->elements().begin(), offered->elements().end());
    return {};
}

result<std::vector<digest>> session::party::take_wants(const envelope& e) {
    if (auto due = expect(e, kind::want); !due) return due.error();
    const auto wanted = list(e);
    if (!wanted) return wanted.error();
    if (wanted->size() > 0 && !owner_.text_of)
        return error::mismatch("there are no texts on this side, only digests");
    key_texts answer;
    for (const digest& element : wanted->elements()) {
        if (!mine_->contains(element))
            return error::mismatch("the peer wants the text of a key that this side does not have");
        answer.texts.push_back(owner_.text_of(element));
    }
    if (wanted->size() > 0) post(kind::texts, answer);
    return std::vector(wanted->elements().begin(), wanted->elements().end());
}

result<void> session::party::take_texts(const envelope& e) {
    if (auto due = expect(e, kind::texts); !due) return due;
    auto keys = key_texts::parse(e.hash(), e.payload(), how_.limits);
    if (!keys) return keys.error();
    if (keys->texts.size() != found_.only_there.size())
        return error::mismatch("not as many texts as were asked for; is the peer of another version?");
    for (std::size_t i = 0; i < keys->texts.size(); ++i) {
        const digest_set one(mine_->hash(), mine_->width(), {owner_.digest_of(keys->texts[i])});
        if (one.elements()[0] != found_.only_there[i]) {
            return error::mismatch(
                "the text of a key does not have its digest; does the peer take its keys in another "
                "way?");
        }
    }
    found_.texts = std::move(keys->texts);
    return {};
}

result<void> session::party::post_summary(method how) {
    if (how == method::filter) {
        const auto g = filter_geometry(mine_->size(), how_.bits_per_item, mine_->hash());
        if (!g) return g.error();
        const auto filter = filter_of(*mine_, *g);
        if (!filter) return filter.error();
        there_expected_ = [share = expected_of(*filter)](std::uint64_t) { return share; };
        post(kind::filter, byte_view(payload_of_filter(*filter)));
        return predict_there(), result<void>();
    }
    const auto shape = plan_tree(mine_->size(), how_.bits_per_item);
    if (!shape) return shape.error();
    auto tree = reconciliation_tree::make(*mine_, *shape);
    if (!tree) return tree.error();
    post(kind::tree, *tree);
    there_expected_ = [kept = std::make_shared<reconciliation_tree>(std::move(*tree))](std::uint64_t items) {
        return kept->expected_found(items);
    };
    return predict_there(), result<void>();
}

result<void> session::party::take_summary(const envelope& e) {
    if (e.kind() == kind::filter) {
        auto read = from_bytes(e.payload(), how_.limits);
        if (!read) return read.error();
        const auto* filter = std::get_if<bloom_filter>(&read->body);
        if (!filter || read->size != e.payload().size())
            return error::mismatch("something else where a filter was due; is the peer of another version?");
        if (auto kin = check_kin(*mine_, filter->hash(), mine_->width()); !kin) return kin;
        found_.items_there = filter->items().value_or(0);
        found_.here_expected = expected_of(*filter);
        found_.elements_visited = mine_->size();
        for (const digest& element : mine_->elements()) {
            if (!filter->may_contain(probe_of(element, mine_->width()))) found_.only_here.push_back(element);
        }
    } else {
        if (auto due = expect(e, kind::tree); !due) return due;
        const auto tree = reconciliation_tree::parse(e.hash(), e.payload(), how_.limits);
        if (!tree) return tree.error();
        auto search = tree->search(*mine_);
        if (!search) return search.error();
        found_.items_there = tree->items();
        found_.here_expected = tree->expected_found(mine_->size());
        found_.nodes_visited = search->nodes;
        found_.elements_visited = search->elements;
        found_.only_here = std::move(search->found);
    }
    return predict_there(), result<void>();
}

void session::party::predict_there() {
    if (there_expected_) found_.there_expected = there_expected_(found_.items_there);
}

}  // namespace posy::reconcile
