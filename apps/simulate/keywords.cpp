// Conjunctive queries over the text files of the machine, by filters and by whole lists, beside a central
// index of the same texts.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <unordered_map>

#include "documents.hpp"
#include "network.hpp"
#include "posy/overlay/keywords.hpp"
#include "systems.hpp"
#include "tally.hpp"

namespace posy::simulate {
namespace {

using overlay::keyword_node;

// The kinds of messages in src/overlay/keyword_mail.hpp that carry lists from node to node, and the one that
// carries answers.
constexpr std::array carrying{4, 5, 6, 7, 8, 9};
constexpr int answering = 10;

struct query {
    std::vector<std::string> words;
    std::vector<std::uint32_t> truth;  // the texts that have all of them
};

std::vector<std::string> words_of(const document& d) {
    std::vector<std::string> words;
    for (const auto& [word, count] : d.words) words.push_back(word);
    return words;
}

// The central index.
class library {
  public:
    explicit library(std::vector<document> texts) : texts_(std::move(texts)) {
        for (std::uint32_t i = 0; i < texts_.size(); ++i) {
            ids_.push_back(hasher()(texts_[i].name));
            for (const auto& [word, count] : texts_[i].words) index_[word].push_back(i);
        }
    }
    const std::vector<document>& texts() const { return texts_; }
    digest id(std::uint32_t text) const { return ids_[text]; }
    const std::vector<std::uint32_t>& with(const std::string& word) const { return index_.at(word); }
    std::uint64_t words() const { return index_.size(); }

    // Two or three words of one text: each has an answer at least.
    query draw(std::mt19937_64& random) const {
        for (;;) {
            const auto words = words_of(texts_[random() % texts_.size()]);
            query q;
            std::ranges::sample(words, std::back_inserter(q.words),
                                2 + static_cast<std::ptrdiff_t>(random() % 2), random);
            if (q.words.size() < 2) continue;
            q.truth = with(q.words[0]);
            for (const auto& word : q.words) {
                std::vector<std::uint32_t> both;
                std::ranges::set_intersection(q.truth, with(word), std::back_inserter(both));
                q.truth = std::move(both);
            }
            return q;
        }
    }

  private:
    std::vector<document> texts_;
    std::vector<digest> ids_;
    std::unordered_map<std::string, std::vector<std::uint32_t>> index_;
};

struct costs {
    double lists = 0, answers = 0, all = 0;  // bytes
    std::uint64_t right = 0, ambiguous = 0;
};

class search_engine {
  public:
    search_engine(const library& l, std::uint64_t nodes, bool filters, const options& o)
        : library_(l), net_({.latency = {}, .loss = o.loss, .open = {}}, o.seed), random_(o.seed) {
        auto about = std::make_shared<overlay::keyword_network>();
        about->filters = filters;
        for (node_id i = 0; i < nodes; ++i) about->nodes.push_back(i);
        for (const node_id i : about->nodes) net_.join(i, keyword_node(about, i));
        // Publishing is without loss: what is measured is searching.
        for (std::uint32_t t = 0; t < l.texts().size(); ++t) {
            overlay::outbox out;
            net_.find(0)->publish(l.id(t), words_of(l.texts()[t]), out);
            for (const auto& letter : out) {
                overlay::outbox none;
                net_.find(letter.to)->receive(0, letter.message, 0, none);
            }
        }
    }

    costs run(const std::vector<query>& queries, std::uint64_t most) {
        costs c;
        for (const query& q : queries) {
            const traffic before = net_.sent();
            const node_id asker = random_() % net_.size();
            net_.at(asker, [&](auto& n, auto now, auto& out) { n.ask(q.words, most, now, out); });
            net_.run_to_rest(net_.now() + 600'000);
            const auto answers = net_.find(asker)->take_answers();
            c.right += answers.size() == 1 && is_right(q, answers[0], most);
            for (const int kind : carrying)
                c.lists += difference(net_.sent(), before, static_cast<std::size_t>(kind));
            c.answers += difference(net_.sent(), before, answering);
            c.all += static_cast<double>(net_.sent().bytes - before.bytes);
        }
        net_.each([&](node_id, keyword_node& n) { c.ambiguous += n.ambiguous(); });
        return c;
    }

  private:
    static double difference(const traffic& now, const traffic& before, std::size_t kind) {
        return static_cast<double>(now.bytes_of_kind[kind] - before.bytes_of_kind[kind]);
    }
    bool is_right(const query& q, const keyword_node::answer& a, std::uint64_t most) const {
        std::vector<digest> truth;
        for (const std::uint32_t t : q.truth) truth.push_back(library_.id(t));
        const auto by_value = [](const digest& x, const digest& y) {
            return std::pair(x.low, x.high) < std::pair(y.low, y.high);
        };
        std::ranges::sort(truth, by_value);
        if (most >= truth.size() || a.complete) return a.documents == truth;
        return a.documents.size() >= most && std::ranges::includes(truth, a.documents, by_value);
    }

    const library& library_;
    network<keyword_node> net_;
    std::mt19937_64 random_;
};

// What the planner expects, and the words that each step carries; two lists at one node cost nothing.
double predicted_bytes(const library& l, const std::vector<query>& queries, std::uint64_t nodes) {
    const double apart = 1 - 1 / static_cast<double>(nodes);
    double bytes = 0;
    for (const query& q : queries) {
        std::vector<std::string> words = q.words;
        std::ranges::sort(words, {}, [&](const std::string& w) { return l.with(w).size(); });
        double context = 10;
        for (const auto& word : words) context += static_cast<double>(word.size()) + 3;
        bytes += context;
        std::vector<std::uint32_t> have = l.with(words[0]);
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto& others = l.with(words[i]);
            std::vector<std::uint32_t> both;
            std::ranges::set_intersection(have, others, std::back_inserter(both));
            const auto step = overlay::plan_keyword_step(have.size(), others.size(), both.size());
            bytes += apart * (context + step.bits / 8);
            have = std::move(both);
        }
    }
    return bytes;
}

}  // namespace

report run_keywords(const options& o) {
    const std::uint64_t nodes = number_of("--nodes", o.nodes, 100, 1);
    const std::uint64_t count = number_of("--queries", o.queries, 5'000, 1);
    std::vector<document> texts = read_documents(o.texts);
    texts.resize(number_of("--objects", o.objects, texts.size(), 1, texts.size()));
    const library l(std::move(texts));
    std::mt19937_64 random(o.seed);
    std::vector<query> queries(count);
    for (query& q : queries) q = l.draw(random);

    search_engine filters(l, nodes, true, o), lists(l, nodes, false, o);
    const costs by_filter = filters.run(queries, keyword_node::whole);
    const costs by_list = lists.run(queries, keyword_node::whole);
    constexpr std::uint64_t first = 10;
    const costs few = filters.run(queries, first);
    const costs few_by_list = lists.run(queries, first);

    const auto each = [&](double total) { return total / static_cast<double>(count); };
    report r{"keywords",
             fmt::format("{} nodes, {} texts, {} words, {} queries of two or three words, seed {}", nodes,
                         l.texts().size(), l.words(), count, o.seed),
             {},
             {}};
    r.figures = {
        {"exact answers", each(static_cast<double>(by_filter.right)), 1.0, {}, ""},
        {"lists from node to node, as they are", each(by_list.lists), {}, {}, "bytes"},
        {"lists from node to node, by filters",
         each(by_filter.lists),
         each(predicted_bytes(l, queries, nodes)),
         {},
         "bytes"},
        {"  of lists as they are", by_filter.lists / by_list.lists, {}, {}, ""},
        {"answers", each(by_filter.answers), {}, {}, "bytes"},
        {"all messages, with lists as they are", each(by_list.all), {}, {}, "bytes"},
        {"all messages, with filters", each(by_filter.all), {}, {}, "bytes"},
        {"ambiguous short names per query", each(static_cast<double>(by_filter.ambiguous)), {}, {}, ""},
        {fmt::format("first {}: exact answers", first), each(static_cast<double>(few.right)), 1.0, {}, ""},
        {"  lists from node to node, as they are", each(few_by_list.lists), {}, {}, "bytes"},
        {"  lists from node to node, by filters", each(few.lists), {}, {}, "bytes"},
        {"  all messages, with filters", each(few.all), {}, {}, "bytes"},
    };
    return r;
}

}  // namespace posy::simulate
