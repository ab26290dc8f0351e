// posy trace record: remembers the packets of an interface or a capture file in pages of digests.
#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "numbers.hpp"
#include "packet_stream.hpp"
#include "posy/base/file_lock.hpp"
#include "posy/secret_hash.hpp"
#include "stop_signal.hpp"
#include "trace.hpp"

namespace posy::tool {
namespace {

namespace fs = std::filesystem;

struct record_options {
    std::string input, output, interval = "10s";
    std::uint64_t packets = 1'000'000, keep = std::uint64_t{1} << 30;
    double rate = 0.001;
};

std::uint64_t now_microseconds() {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count());
}

class recorder {
  public:
    explicit recorder(const record_options& o)
        : keep_(o.keep),
          table_(take(packets::digest_table::make(settings_of(o)), "trace record")),
          folder_(take(packets::digest_folder::create(o.output), "trace record")) {
        if (table_.page_plan().memory_bytes() > keep_)
            throw failure(
                fmt::format("trace record: a page of {} packets takes {}, more than --keep; give fewer "
                            "--packets or keep more",
                            count(static_cast<double>(o.packets)), bytes(table_.page_plan().memory_bytes())));
    }

    void add(const packets::captured& packet) {
        if (!packet.link) {
            if (unknown_link_++ == 0) unknown_link_number_ = packet.link_number;
            return;
        }
        packets::imprint made;
        const auto outcome = packets::imprint::of(packet.frame, packet.original_length, *packet.link, made);
        ++outcomes_[static_cast<std::size_t>(outcome)];
        if (outcome != packets::outcome::found) return;
        const std::uint64_t time = packet.time / 1000;
        take(table_.insert(made, time), "trace record");
        if (table_.pages().size() > 1) save_ended(time);
    }
    // Pages that have ended by this time.
    void save_ended(std::uint64_t now) {
        while (const auto page = table_.take(now)) {
            take(folder_.save(*page), "trace record");
            ++pages_;
            removed_ += take(folder_.keep_within(keep_), "trace record");
        }
    }
    void dropped(std::uint64_t packets) { dropped_ = packets; }
    std::string summary() const {
        std::vector<std::vector<std::string>> rows{{"packets recorded", number(packets::outcome::found)}};
        for (const auto other : members<packets::outcome>)
            if (other != packets::outcome::found && outcomes_[static_cast<std::size_t>(other)] > 0)
                rows.push_back({std::string(packets::name_of(other)), number(other)});
        if (unknown_link_ > 0)
            rows.push_back(
                {unknown_link_text(unknown_link_number_), count(static_cast<double>(unknown_link_))});
        if (dropped_ > 0) rows.push_back({"not read in time", count(static_cast<double>(dropped_))});
        rows.push_back({"pages written", count(static_cast<double>(pages_))});
        if (removed_ > 0) rows.push_back({"oldest pages removed", count(static_cast<double>(removed_))});
        return table(rows);
    }
    std::uint64_t recorded() const { return outcomes_[static_cast<std::size_t>(packets::outcome::found)]; }
    std::uint64_t cut_short() const {
        return outcomes_[static_cast<std::size_t>(packets::outcome::cut_short)];
    }

  private:
    static packets::digest_settings settings_of(const record_options& o) {
        // One page is in use, and one is being saved.
        return {.packets = o.packets,
                .rate = o.rate,
                .interval = static_cast<std::uint64_t>(parse_duration("--interval", o.interval).count()),
                .memory = ~std::uint64_t{0},
                .seed = take(hash::random_seed(), "trace record")};
    }
    std::string number(packets::outcome of) const {
        return count(static_cast<double>(outcomes_[static_cast<std::size_t>(of)]));
    }

    std::uint64_t keep_;
    packets::digest_table table_;
    packets::digest_folder folder_;
    std::array<std::uint64_t, members<packets::outcome>.size()> outcomes_{};
    std::uint64_t pages_ = 0, removed_ = 0, dropped_ = 0, unknown_link_ = 0;
    std::uint32_t unknown_link_number_ = 0;  // of the first of those
};

// One recorder per folder: two would remove each other's pages.
base::file_lock lock_of(const std::string& folder) {
    auto lock = base::file_lock::take(fs::path(folder) / packets::digest_folder::list_name, {});
    if (!lock) throw failure(folder + ": another process records into this folder; give another one");
    return std::move(*lock);
}

void record_all(packet_stream& from, recorder& into) {
    packets::captured packet;
    for (;;) {
        const auto step = from.next(packet);
        if (step == packet_stream::step::end) break;
        if (step == packet_stream::step::packet)
            into.add(packet);
        else
            into.save_ended(now_microseconds());
    }
}

void record(const record_options& o) {
    const int stop = stop_on_signal();
    const auto stream = open_packets(o.input, stop);
    recorder all(o);
    const auto lock = lock_of(o.output);
    try {
        record_all(*stream, all);
    } catch (const failure& damage) {  // a damaged file, an interface that went away
        all.save_ended(~std::uint64_t{0});
        if (all.recorded() == 0) throw;
        throw failure(std::string(damage.what()) + "; what comes before it is recorded");
    }
    all.save_ended(~std::uint64_t{0});
    all.dropped(stream->dropped());
    print(all.summary());
    if (all.cut_short() > 0)
        fmt::print(stderr,
                   "posy: {} packets were captured with too few bytes to be recorded; capture at least 128 "
                   "of each\n",
                   count(static_cast<double>(all.cut_short())));
}

}  // namespace

void add_trace_record(command_line& trace) {
    const auto o = std::make_shared<record_options>();
    command_line command = add_command(
        trace, "record", "Remember the packets of an interface or a capture file in digests",
        "  posy trace record -i eth0 -o /var/lib/digests --keep 10GiB\n"
        "  posy trace record -i capture.pcap -o digests\n"
        "A page of digests ends after --interval or --packets, whichever comes first, and can be asked for\n"
        "as soon as it has ended. The oldest pages are removed when all of them take more than --keep.\n"
        "SIGINT and SIGTERM save what was recorded. The folder can be served by any web server.");
    command
        .add_option("-i,--input INPUT", o->input,
                    "Name of a capture file (- is standard input) or of an interface, any for all of them")
        .required();
    command.add_option("-o,--output FOLDER", o->output, "Folder for the pages; made if it is not there")
        .required();
    command.add_option("--interval TIME", o->interval, "Longest time of one page, e.g. 10s or 5m")
        .shows_default();
    add_amount(command, "--packets N", o->packets, "Most packets in one page, e.g. 500k (default: 1M)");
    command.add_option("--fpr RATE", o->rate, "False-positive rate of a full page")
        .between(1e-12, 0.5)
        .shows_default();
    add_amount(command, "--keep SIZE", o->keep,
               "Most bytes of all pages in the folder, e.g. 10GiB (default: 1GiB)");
    command.runs([o] { record(*o); });
}

}  // namespace posy::tool
