// The asker's side of keyword search, and the index.
#include "posy/overlay/keywords.hpp"

#include <algorithm>
#include <numeric>

#include "base/varint.hpp"
#include "overlay/keyword_lists.hpp"
#include "overlay/keyword_mail.hpp"
#include "posy/base/wide.hpp"

namespace posy::overlay {

using base::put_varint;

node_id keyword_network::home_of(std::string_view word) const {
    const std::uint64_t drawn = hasher()(word).high;
    return nodes[static_cast<std::size_t>(base::u128{drawn} * nodes.size() >> 64)];
}

keyword_node::keyword_node(std::shared_ptr<const keyword_network> net, node_id self)
    : net_(std::move(net)), self_(self) {}

// ---- The index -----------------------------------------------------------------------------------------

void keyword_node::publish(digest document, const std::vector<std::string>& words, outbox& out) {
    std::map<node_id, std::vector<const std::string*>> homes;
    for (const std::string& word : words) {
        if (word.size() <= keyword_mail::longest_word) homes[net_->home_of(word)].push_back(&word);
    }
    for (const auto& [home, theirs] : homes) {
        auto message = begin(keyword_mail::kind::posting);
        keyword_mail::put(message, document);
        put_varint(message, theirs.size());
        for (const std::string* word : theirs) keyword_mail::put(message, *word);
        out.push_back({home, std::move(message)});
    }
}

bool keyword_node::take_posting(base::reader& from) {
    const digest document = keyword_mail::read_digest(from);
    std::vector<std::string> words(std::min<std::uint64_t>(from.varint(), from.left()));
    for (std::string& word : words) word = keyword_mail::read_word(from);
    const bool ours =
        std::ranges::all_of(words, [&](const std::string& word) { return net_->home_of(word) == self_; });
    if (from.finish() || !ours) return false;
    for (const std::string& word : words) {
        list& documents = index_[word];
        const auto place = std::ranges::lower_bound(documents, document, before);
        if (place == documents.end() || *place != document) documents.insert(place, document);
    }
    return true;
}

const keyword_node::list& keyword_node::list_of(const std::string& word) const {
    static const list none;
    const auto found = index_.find(word);
    return found == index_.end() ? none : found->second;
}

std::size_t keyword_node::documents_with(const std::string& word) const { return list_of(word).size(); }

// ---- Questions -----------------------------------------------------------------------------------------

std::uint64_t keyword_node::ask(std::vector<std::string> words, std::uint64_t most, std::uint64_t now,
                                outbox& out) {
    const std::uint64_t ticket = ++tickets_;
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    const bool possible = !words.empty() && words.size() <= keyword_mail::most_words && most > 0 &&
                          std::ranges::all_of(words, [](const std::string& word) {
                              return word.size() <= keyword_mail::longest_word;
                          });
    question& q = questions_[ticket];
    q.words = std::move(words);
    q.sizes.resize(q.words.size());
    q.most = most;
    // A part that may be enough; the asker doubles it while it is not.
    q.part = std::clamp<std::uint64_t>(most, 16, 1 << 15) * 2;
    if (possible)
        send_question(ticket, q, now, out);
    else
        finish(ticket, false, true);
    return ticket;
}

// The lengths of the lists that are not known yet; then the next part of the answer.
void keyword_node::send_question(std::uint64_t ticket, question& q, std::uint64_t now, outbox& out) {
    q.repeat_at = now + net_->patience;
    for (std::size_t i = 0; i < q.words.size() && !q.started; ++i) {
        if (q.sizes[i]) continue;
        auto message = begin(keyword_mail::kind::size_question);
        put_varint(message, ticket);
        put_varint(message, i);
        keyword_mail::put(message, q.words[i]);
        out.push_back({net_->home_of(q.words[i]), std::move(message)});
    }
    if (!q.started) return;
    keyword_mail::context c{
        .asker = self_, .ticket = ticket, .offset = q.offset, .part = q.part, .words = q.words};
    for (const auto& size : q.sizes) c.sizes.push_back(*size);
    auto message = begin(keyword_mail::kind::start);
    keyword_mail::put(message, c);
    out.push_back({net_->home_of(q.words[0]), std::move(message)});
}

bool keyword_node::take_size(node_id from, base::reader& fields, std::uint64_t now, outbox& out) {
    const std::uint64_t ticket = fields.varint(), which = fields.varint(), size = fields.varint();
    const auto found = questions_.find(ticket);
    if (fields.finish() || found == questions_.end()) return false;
    question& q = found->second;
    if (which >= q.words.size() || from != net_->home_of(q.words[which])) return false;
    if (q.started || q.sizes[which]) return true;  // said twice
    q.sizes[which] = size;
    if (!std::ranges::all_of(q.sizes, [](const auto& known) { return known.has_value(); })) return true;
    std::vector<std::size_t> order(q.words.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *q.sizes[i]; });
    question sorted = q;
    for (std::size_t i = 0; i < order.size(); ++i) {
        sorted.words[i] = q.words[order[i]];
        sorted.sizes[i] = q.sizes[order[i]];
    }
    sorted.started = true;
    sorted.tries = 0;
    q = std::move(sorted);
    if (*q.sizes[0] == 0)
        finish(ticket, true, false);
    else
        send_question(ticket, q, now, out);
    return true;
}

bool keyword_node::take_part(base::reader& fields, std::uint64_t now, outbox& out) {
    const std::uint64_t ticket = fields.varint(), offset = fields.varint(), next = fields.varint();
    list documents = keyword_mail::read_digests(fields);
    if (fields.finish() || (next != 0 && next <= offset)) return false;
    const auto found = questions_.find(ticket);
    if (found == questions_.end() || !found->second.started || found->second.offset != offset) return true;
    question& q = found->second;
    q.found.insert(q.found.end(), documents.begin(), documents.end());
    q.offset = next;
    q.part *= 2;
    q.tries = 0;
    if (next == 0 || q.found.size() >= q.most)
        finish(ticket, next == 0, false);
    else
        send_question(ticket, q, now, out);
    return true;
}

void keyword_node::finish(std::uint64_t ticket, bool complete, bool failed) {
    const auto found = questions_.find(ticket);
    std::ranges::sort(found->second.found, before);
    answers_.push_back({ticket, std::move(found->second.found), complete, failed});
    questions_.erase(found);
}

// ---- Time and mail -------------------------------------------------------------------------------------

void keyword_node::receive(node_id from, byte_view message, std::uint64_t now, outbox& out) {
    base::reader fields(message);
    bool good = false;
    switch (static_cast<keyword_mail::kind>(fields.byte())) {
        case keyword_mail::kind::posting:
            good = take_posting(fields);
            break;
        case keyword_mail::kind::size_question:
            good = take_size_question(from, fields, out);
            break;
        case keyword_mail::kind::size:
            good = take_size(from, fields, now, out);
            break;
        case keyword_mail::kind::start:
            good = take_start(from, fields, now, out);
            break;
        case keyword_mail::kind::digests:
            good = take_digests(fields, now, out);
            break;
        case keyword_mail::kind::filter:
            good = take_filter(from, fields, now, out);
            break;
        case keyword_mail::kind::names:
            good = take_names(from, fields, out);
            break;
        case keyword_mail::kind::verdict:
            good = take_verdict(from, fields, now, out);
            break;
        case keyword_mail::kind::doubt:
            good = take_doubt(from, fields, out);
            break;
        case keyword_mail::kind::part:
            good = take_part(fields, now, out);
            break;
    }
    refused_ += !good;
}

void keyword_node::tick(std::uint64_t now, outbox& out) {
    const auto expired = [&](const auto& each) { return each.second.expires <= now; };
    std::erase_if(sieved_, expired);
    std::erase_if(candidates_, expired);
    std::vector<std::uint64_t> late;
    for (const auto& [ticket, q] : questions_) {
        if (q.repeat_at <= now) late.push_back(ticket);
    }
    for (const std::uint64_t ticket : late) {
        question& q = questions_.at(ticket);
        if (++q.tries < most_tries)
            send_question(ticket, q, now, out);
        else
            finish(ticket, false, true);
    }
}

std::optional<std::uint64_t> keyword_node::next_tick() const {
    std::optional<std::uint64_t> first;
    const auto consider = [&](std::uint64_t at) { first = first ? std::min(*first, at) : at; };
    for (const auto& [ticket, q] : questions_) consider(q.repeat_at);
    for (const auto* steps : {&sieved_, &candidates_}) {
        for (const auto& [id, each] : *steps) consider(each.expires);
    }
    return first;
}

}  // namespace posy::overlay
