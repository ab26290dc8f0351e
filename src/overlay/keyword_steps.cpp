// A query at the nodes of its words: from one list to the next.
#include <algorithm>

#include "base/varint.hpp"
#include "overlay/keyword_lists.hpp"
#include "overlay/keyword_mail.hpp"
#include "posy/intersection_plan.hpp"
#include "posy/message.hpp"
#include "posy/overlay/keywords.hpp"

namespace posy::overlay {

using base::put_varint;

namespace {

// What the messages of an exchange by filter have besides filter, names and bits: the frame of the filter,
// the sum in the verdict, and the numbers of the step.
constexpr double exchange_bits = 8 * 64;
constexpr read_limits filter_limits{.max_bytes = 64 << 20, .believed_bytes = 1 << 20, .expansion = 2};

keyword_mail::step step_of(const keyword_mail::context& c) { return {c.asker, c.ticket, c.offset, c.word}; }

template <class Part>
std::vector<std::byte> message_of(keyword_mail::kind kind, const Part& part) {
    auto message = begin(kind);
    keyword_mail::put(message, part);
    return message;
}

// A filter of the documents, if that is fewer bytes than their digests.
std::optional<bloom_filter> filter_for(const std::vector<digest>& documents, std::uint64_t others) {
    const auto plan = plan_keyword_step(documents.size(), others).filter;
    if (plan.bits == 0) return std::nullopt;
    auto filter = bloom_filter::make({plan.bits, plan.hashes, layout_id::spread});
    if (!filter) return std::nullopt;
    filter->insert(documents);
    return std::move(*filter);
}

}  // namespace

// Whether to send a filter is decided as if nothing were common, which nobody knows before.
keyword_step plan_keyword_step(std::uint64_t mine, std::uint64_t others, std::uint64_t common) {
    const double digests = 8.0 * sizeof(digest) * static_cast<double>(mine);
    const auto plan = plan_intersection(mine, others, 8.0 * name_bytes(mine, others) + 1);
    if (plan.bits == 0 || plan.total_bits + exchange_bits >= digests) return {{}, digests};
    const double passed =
        static_cast<double>(common) + plan.rate * static_cast<double>(others - std::min(common, others));
    const unsigned name = name_bytes(static_cast<std::uint64_t>(passed), mine);
    return {plan, static_cast<double>(plan.bits) + exchange_bits + passed * (8.0 * name + 1)};
}

void keyword_node::remember(std::map<step_id, pending>& steps, const keyword_mail::context& c, list documents,
                            std::uint64_t until) {
    if (steps.size() >= most_pending) {
        steps.erase(std::ranges::min_element(steps, {}, [](const auto& s) { return s.second.expires; }));
    }
    steps.insert_or_assign({c.asker, c.ticket, c.offset, c.word},
                           pending{std::make_shared<keyword_mail::context>(c), std::move(documents), until});
}

bool keyword_node::take_size_question(node_id from, base::reader& fields, outbox& out) const {
    const std::uint64_t ticket = fields.varint(), which = fields.varint(keyword_mail::most_words);
    const std::string word = keyword_mail::read_word(fields);
    if (fields.finish()) return false;
    auto message = begin(keyword_mail::kind::size);
    put_varint(message, ticket);
    put_varint(message, which);
    put_varint(message, documents_with(word));
    out.push_back({from, std::move(message)});
    return true;
}

bool keyword_node::take_start(node_id from, base::reader& fields, std::uint64_t now, outbox& out) {
    keyword_mail::context c = keyword_mail::read_context(fields);
    if (fields.finish() || c.word != 0 || c.asker != from || c.part == 0) return false;
    const list& all = list_of(c.words[0]);
    const std::size_t first = std::min<std::uint64_t>(c.offset, all.size());
    const std::size_t count = std::min<std::uint64_t>(c.part, all.size() - first);
    c.next = first + count < all.size() ? first + count : 0;
    const auto start = all.begin() + static_cast<std::ptrdiff_t>(first);
    advance(c, list(start, start + static_cast<std::ptrdiff_t>(count)), now, out);
    return true;
}

// The documents have the words up to and with this one: on to the next, or to the asker.
void keyword_node::advance(const keyword_mail::context& so_far, list documents, std::uint64_t now,
                           outbox& out) {
    keyword_mail::context c = so_far;
    while (++c.word < c.words.size() && !documents.empty() && net_->home_of(c.words[c.word]) == self_) {
        list both;
        std::ranges::set_intersection(documents, list_of(c.words[c.word]), std::back_inserter(both), before);
        documents = std::move(both);
    }
    if (c.word >= c.words.size() || documents.empty()) {
        auto message = begin(keyword_mail::kind::part);
        for (const std::uint64_t field : {c.ticket, c.offset, c.next}) put_varint(message, field);
        for (const digest& each : documents) keyword_mail::put(message, each);
        out.push_back({c.asker, std::move(message)});
        return;
    }
    const auto filter = net_->filters ? filter_for(documents, c.sizes[c.word]) : std::nullopt;
    auto message = message_of(filter ? keyword_mail::kind::filter : keyword_mail::kind::digests, c);
    if (filter) {
        put_varint(message, documents.size());
        const auto bytes = to_bytes(*filter, {.want = coding::smallest});
        message.insert(message.end(), bytes.begin(), bytes.end());
        remember(sieved_, c, std::move(documents), now + 2 * net_->patience);
    } else {
        for (const digest& each : documents) keyword_mail::put(message, each);
    }
    out.push_back({net_->home_of(c.words[c.word]), std::move(message)});
}

bool keyword_node::take_digests(base::reader& fields, std::uint64_t now, outbox& out) {
    const keyword_mail::context c = keyword_mail::read_context(fields);
    const list documents = keyword_mail::read_digests(fields);
    if (fields.finish() || !std::ranges::is_sorted(documents, before)) return false;
    list both;
    std::ranges::set_intersection(documents, list_of(c.words[c.word]), std::back_inserter(both), before);
    candidates_.erase({c.asker, c.ticket, c.offset, c.word});
    advance(c, std::move(both), now, out);
    return true;
}

bool keyword_node::take_filter(node_id from, base::reader& fields, std::uint64_t now, outbox& out) {
    const keyword_mail::context c = keyword_mail::read_context(fields);
    const std::uint64_t count = fields.varint();
    const byte_view bytes = fields.rest();
    if (fields.finish()) return false;
    const auto message = from_bytes(bytes, filter_limits);
    const auto* filter = message ? std::get_if<bloom_filter>(&message->body) : nullptr;
    // One that lets half of everything through was not planned: it would only make this node send its list.
    if (!filter || message->size != bytes.size() || filter->false_positive_rate() > 0.5) return false;
    list passed;
    for (const digest& each : list_of(c.words[c.word])) {
        if (filter->may_contain(each)) passed.push_back(each);
    }
    if (passed.empty()) {
        advance(c, {}, now, out);
        return true;
    }
    const unsigned width = name_bytes(passed.size(), count);
    auto names = message_of(keyword_mail::kind::names, step_of(c));
    put_varint(names, width);
    for (const digest& each : passed) {
        const std::uint64_t name = short_name(each, width);
        for (unsigned i = 0; i < width; ++i) names.push_back(static_cast<std::byte>(name >> 8 * i));
    }
    remember(candidates_, c, std::move(passed), now + 2 * net_->patience);
    out.push_back({from, std::move(names)});
    return true;
}

// Which of these names are among the documents whose filter was sent?
bool keyword_node::take_names(node_id from, base::reader& fields, outbox& out) {
    const keyword_mail::step s = keyword_mail::read_step(fields);
    const auto width = static_cast<unsigned>(fields.varint(8));
    const byte_view names = fields.rest();
    const auto found = sieved_.find({s.asker, s.ticket, s.offset, s.word});
    if (fields.finish() || width == 0 || names.size() % width != 0 || found == sieved_.end() ||
        net_->home_of(found->second.about->words[s.word]) != from)
        return false;
    std::unordered_map<std::uint64_t, const digest*> known;
    for (const digest& each : found->second.documents) known.emplace(short_name(each, width), &each);
    const std::size_t count = names.size() / width;
    std::vector<std::byte> bits((count + 7) / 8);
    list had;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t name = 0;
        for (unsigned j = 0; j < width; ++j)
            name |= std::to_integer<std::uint64_t>(names[i * width + j]) << 8 * j;
        const auto match = known.find(name);
        if (match == known.end()) continue;
        bits[i / 8] |= static_cast<std::byte>(1U << i % 8);
        had.push_back(*match->second);
    }
    auto verdict = message_of(keyword_mail::kind::verdict, s);
    keyword_mail::put(verdict, sum_of(had));
    verdict.insert(verdict.end(), bits.begin(), bits.end());
    out.push_back({from, std::move(verdict)});
    return true;
}

bool keyword_node::take_verdict(node_id from, base::reader& fields, std::uint64_t now, outbox& out) {
    const keyword_mail::step s = keyword_mail::read_step(fields);
    const digest sum = keyword_mail::read_digest(fields);
    const byte_view bits = fields.rest();
    const auto found = candidates_.find({s.asker, s.ticket, s.offset, s.word});
    if (fields.finish() || found == candidates_.end() ||
        bits.size() != (found->second.documents.size() + 7) / 8 ||
        net_->home_of(found->second.about->words[s.word - (s.word > 0)]) != from)
        return false;
    list both;
    const list& passed = found->second.documents;
    for (std::size_t i = 0; i < passed.size(); ++i) {
        if (std::to_integer<unsigned>(bits[i / 8]) >> i % 8 & 1) both.push_back(passed[i]);
    }
    if (sum_of(both) != sum) {
        ++ambiguous_;
        out.push_back({from, message_of(keyword_mail::kind::doubt, s)});
        return true;
    }
    const auto about = found->second.about;
    candidates_.erase(found);
    advance(*about, std::move(both), now, out);
    return true;
}

bool keyword_node::take_doubt(node_id from, base::reader& fields, outbox& out) {
    const keyword_mail::step s = keyword_mail::read_step(fields);
    const auto found = sieved_.find({s.asker, s.ticket, s.offset, s.word});
    if (fields.finish() || found == sieved_.end() ||
        net_->home_of(found->second.about->words[s.word]) != from)
        return false;
    auto message = message_of(keyword_mail::kind::digests, *found->second.about);
    for (const digest& each : found->second.documents) keyword_mail::put(message, each);
    out.push_back({from, std::move(message)});
    return true;
}

}  // namespace posy::overlay
