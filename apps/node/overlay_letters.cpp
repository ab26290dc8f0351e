// POST /overlay: which batches of letters are read, and what their senders are told.
#include <fmt/format.h>

#include "answers.hpp"
#include "http/elsewhere.hpp"
#include "overlay_service.hpp"
#include "posy/overlay/letter_batch.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {

constexpr overlay::batch_limits letter_limits{};
constexpr std::uint64_t most_arriving = 4 * letter_limits.bytes;
constexpr auto letter_time = 30s;  // to the end of a batch
constexpr std::size_t most_warnings = 1024;
constexpr std::string_view contact = "contact";  // of the options, and not a neighbour

std::string_view state_of(reach r) {
    switch (r) {
        case reach::unknown:
            return "joining";
        case reach::reached:
            return "up";
        case reach::refusing:
            return "refusing";
        case reach::unreachable:
            return "unreachable";
    }
    return {};
}

}  // namespace

// What one batch holds while it is read; given back whatever happens.
struct overlay_service::admission {
    overlay_service& of;
    std::string sender, address;
    std::uint64_t bytes = 0;
    bool by_sender = false, by_address = false;

    admission(overlay_service& service, std::string from, std::string remote)
        : of(service), sender(std::move(from)), address(std::move(remote)) {}
    admission(const admission&) = delete;
    admission& operator=(const admission&) = delete;
    bool enter(std::uint64_t now) {
        by_address = of.addresses_.enter(address, now);
        by_sender = by_address && of.senders_.enter(sender, now);
        return by_sender;
    }
    bool hold(std::uint64_t size) {
        bytes = size;
        return (of.arriving_ += size) <= most_arriving;
    }
    ~admission() {
        of.arriving_ -= bytes;
        if (by_sender) of.senders_.leave(sender);
        if (by_address) of.addresses_.leave(address);
    }
};

// Before the body: who writes to whom.
std::optional<http::response> overlay_service::refuse(const http::request& r) {
    const auto from = r.head.fields.find("Posy-From"), to = r.head.fields.find("Posy-To");
    if (!from || !to || canonical_address(*from) != *from || *from == how_.overlay.address) {
        count([](counts& c) { ++c.malformed; });
        return answer(400, "letters need Posy-From and Posy-To: the URLs of two nodes\n");
    }
    if (*to != how_.overlay.address) {
        count([](counts& c) { ++c.misdirected; });
        return answer(421, fmt::format("this node is {}, and the letters are for another; name it so\n",
                                       how_.overlay.address));
    }
    if (!how_.token.get()->empty() && r.head.fields.has("Authorization")) {
        const auto seal = seal_of(r.head.fields, *how_.token.get());
        if (seal && !seal->valid_at(here_.time.milliseconds())) {
            count([](counts& c) { ++c.unsealed; });
            return answer(401, "the letters were sealed at another time; set the clocks of both nodes\n");
        }
    }
    return std::nullopt;
}

http::task<http::response> overlay_service::take_letters(http::request& r) {
    if (auto refused = refuse(r)) co_return std::move(*refused);
    co_return co_await admit(r, std::string(*r.head.fields.find("Posy-From")));
}

http::task<http::response> overlay_service::admit(http::request& r, const std::string& from) {
    admission place(*this, from, r.connection.remote().address().to_string());
    if (!place.enter(here_.time.milliseconds())) {
        count([](counts& c) { ++c.too_many; });
        auto busy = answer(429, "too many letters; one batch at a time, and the next after its answer\n");
        busy.head.fields.add("Retry-After", "1");
        co_return busy;
    }
    const auto length = r.parsing.content_length();
    const std::uint64_t most = length ? *length : letter_limits.bytes;
    if (most > letter_limits.bytes) {
        count([](counts& c) { ++c.too_large; });
        throw http::refusal(413, fmt::format("a batch of letters has at most {} bytes", letter_limits.bytes));
    }
    if (!place.hold(most)) {
        count([](counts& c) { ++c.too_many; });
        co_return answer(503, "too many letters of others are being read\n");
    }
    r.connection.expires_after(letter_time);
    auto body = co_await body_of(r, most);
    const auto seal = seal_of(r.head.fields, *how_.token.get());
    if (seal && !seal->fits(body)) {
        count([](counts& c) { ++c.unsealed; });
        co_return answer(401, "the letters are not those that were sealed\n");
    }
    if (seal && !sealed_.take(from, *seal, here_.time.milliseconds())) {
        count([](counts& c) { ++c.repeated; });
        co_return answer(401, "the letters were sealed no later than others of that node that came before\n");
    }
    auto work = [this, from, letters = std::move(body)] { return read_letters(from, letters); };
    auto said = co_await http::elsewhere(r.here.context, running_, std::move(work));
    r.connection.expires_after(60s);
    co_return said;
}

http::task<std::string> overlay_service::body_of(http::request& r, std::uint64_t most) {
    std::string body;
    for (bool more = true; more;) {
        more = co_await r.reader.more(r.parsing);
        if (!more) break;
        if (body.size() + r.parsing.piece.size() > most) {
            count([](counts& c) { ++c.too_large; });
            throw http::refusal(413, fmt::format("a batch of letters has at most {} bytes", most));
        }
        body += r.parsing.piece;
    }
    co_return body;
}

// On the thread of the machine. The sender's address and those it sends are learnt from a batch that can be
// read.
http::response overlay_service::read_letters(const std::string& from, std::string_view body) {
    const auto batch = overlay::read_batch(as_byte_view(body), letter_limits);
    if (!batch) {
        count([](counts& c) { ++c.malformed; });
        return answer(400, "not a batch of letters: " + batch.error().text() + "\n");
    }
    if (left_) return answer(503, "this node is leaving\n");
    const auto sender = book_.learn(from);
    for (const auto& each : batch->addresses) book_.learn(each);
    const auto bad = [this] { return machine_->counts().damaged; };
    const auto before = bad();
    step([&](std::uint64_t now, outbox& out) {
        for (const byte_view each : batch->letters) machine_->receive(*sender, each, now, out);
    });
    count([&](counts& c) {
        ++c.batches;
        c.letters += batch->letters.size();
        c.bytes += body.size();
    });
    const auto damaged = bad() - before;
    if (damaged == 0) return answer(204);
    return answer(400, fmt::format("{} of {} letters are damaged, or of another overlay\n", damaged,
                                   batch->letters.size()));
}

// ---- What is shown ----------------------------------------------------------------------------------------

http::task<nlohmann::json> overlay_service::picture(http::worker& here) {
    co_return co_await http::elsewhere(here.context, running_, [this] { return described(); });
}

std::vector<overlay_neighbour> overlay_service::seen() {
    auto all = machine_->neighbours();
    std::set<node_id> listed;
    for (auto& each : all) {
        listed.insert(each.node);
        if (each.by_gossip) continue;
        const auto reached = office_.reach().of(address_of(each.node).value_or(""));
        if (reached != reach::reached && (reached != reach::unknown || each.state == "up"))
            each.state = state_of(reached);
    }
    for (const auto& each : how_.overlay.contacts) {
        const auto reached = office_.reach().of(each);
        if (reached != reach::reached && each != how_.overlay.address && listed.insert(node_at(each)).second)
            all.push_back({node_at(each), contact, state_of(reached)});
    }
    return all;
}

void overlay_service::warn_of_other_filters(const overlay_neighbour& of) {
    if (warned_of_.size() >= most_warnings || !warned_of_.insert(of.node).second) return;
    how_.log->warning(
        "the {} {} has filters of other --items, --fpr, --hash, --seed or --levels, so that keys "
        "are not found; give all nodes of the overlay the same",
        of.relation, address_of(of.node).value_or(""));
}

nlohmann::json overlay_service::described() {
    nlohmann::json all{{"overlay", name_of(how_.overlay.kind)},
                       {"address", how_.overlay.address},
                       {"node", fmt::format("{:016x}", self_)},
                       {"neighbours", nlohmann::json::array()}};
    if (left_) return all;
    for (const auto& each : seen()) {
        const auto filters = each.relation == contact ? overlay_filters{} : machine_->filters_of(each);
        all["neighbours"].push_back({{"node", fmt::format("{:016x}", each.node)},
                                     {"address", address_of(each.node).value_or("")},
                                     {"relation", each.relation},
                                     {"state", each.state},
                                     {"filter_bits", filters.bits},
                                     {"filter_ones", filters.ones}});
    }
    return all;
}

void overlay_service::describe(metrics& m) const {
    const std::lock_guard lock(mutex_);
    const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
    const auto labelled = [&](std::string_view name, std::string_view help, std::string_view label,
                              std::initializer_list<std::pair<std::string_view, std::uint64_t>> values) {
        for (const auto& [value, n] : values) m.counter(name, help, number(n), metrics::label(label, value));
    };
    const auto& sent = office_.counted();
    m.gauge("posy_overlay_info", "The overlay that this node is part of", 1,
            metrics::label("overlay", name_of(how_.overlay.kind)) + "," +
                metrics::label("address", how_.overlay.address));
    for (const auto& [relation, n] : relations_)
        m.gauge("posy_overlay_neighbours", "Nodes of the overlay that are up, by their relation to this one",
                number(n), metrics::label("relation", relation));
    labelled("posy_overlay_letters_total", "Letters of the overlay", "direction",
             {{"sent", sent.letters}, {"received", counts_.letters}});
    labelled("posy_overlay_batches_total", "Requests that carried letters", "direction",
             {{"sent", sent.batches}, {"received", counts_.batches}});
    labelled("posy_overlay_bytes_total", "Bytes of letters; of those that were sent, with all of HTTP",
             "direction", {{"sent", sent.bytes}, {"received", counts_.bytes}});
    labelled(
        "posy_overlay_undelivered_total", "Letters that did not leave, by reason", "why",
        {{"unreachable", sent.undelivered}, {"no_room", sent.overflowed}, {"no_address", counts_.homeless}});
    labelled("posy_overlay_refused_batches_total", "Batches of letters that were refused, by reason", "why",
             {{"malformed", counts_.malformed},
              {"too_large", counts_.too_large},
              {"too_many", counts_.too_many},
              {"misdirected", counts_.misdirected},
              {"bad_seal", counts_.unsealed},
              {"repeated", counts_.repeated}});
    labelled("posy_overlay_bad_letters_total", "Letters that changed nothing, by reason", "why",
             {{"damaged", of_machine_.damaged},
              {"stranger", of_machine_.strangers},
              {"refused", of_machine_.refused}});
    labelled("posy_overlay_lookups_total", "Lookups from this node, by what came of them", "result",
             {{"found", counts_.found}, {"absent", counts_.absent}, {"timed_out", counts_.timed_out}});
    m.counter("posy_overlay_lookup_hops_total", "Hops of these lookups", number(counts_.hops));
    if (of_machine_.false_forwards)
        m.counter("posy_overlay_false_forwards_total", "Requests that a filter had sent the wrong way",
                  number(*of_machine_.false_forwards));
    m.counter("posy_overlay_lost_total", "Neighbours and members that fell silent", number(of_machine_.lost));
}

}  // namespace posy::node
