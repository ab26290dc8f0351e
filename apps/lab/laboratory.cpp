#include "laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <charconv>
#include <exception>
#include <map>
#include <stdexcept>

#include "child.hpp"
#include "http/server.hpp"
#include "origin.hpp"

namespace posy::lab {

using namespace std::chrono_literals;

namespace {

namespace asio = boost::asio;

constexpr auto time_limit = 60s;

http::host_port loopback(std::uint16_t port) { return {"127.0.0.1", port}; }

std::vector<child> start_proxies(const setting& how, const std::vector<std::uint16_t>& ports) {
    std::vector<child> proxies;
    for (std::uint32_t i = 0; i < how.proxies; ++i) {
        std::vector<std::string> arguments{"proxy",
                                           "--listen",
                                           loopback(ports[i]).text(),
                                           "--name",
                                           fmt::format("px{}", i),
                                           "--sharing",
                                           std::string(name_of(how.sharing)),
                                           how.misled        ? "--misled"
                                           : how.change_bits ? "--change-bits"
                                                             : "--change",
                                           how.misled
                                               ? std::to_string(*how.misled)
                                               : fmt::format("{}", how.change_bits.value_or(how.change)),
                                           "--memory",
                                           std::to_string(how.memory),
                                           "--items",
                                           std::to_string(how.items),
                                           "--fpr",
                                           fmt::format("{}", how.rate),
                                           "--interval",
                                           "3600",
                                           "--threads",
                                           "1",
                                           "--allow-destination",
                                           "loopback",
                                           "--quiet"};
        if (how.keep_siblings) arguments.emplace_back("--keep-siblings");
        for (std::uint32_t j = 0; j < how.proxies; ++j) {
            if (j == i) continue;
            arguments.emplace_back("--peer");
            arguments.push_back(fmt::format("px{}=http://{}", j, loopback(ports[j]).text()));
        }
        proxies.emplace_back(arguments, ports[i]);
    }
    return proxies;
}

// The samples of a Prometheus text.
std::map<std::string, double, std::less<>> samples_of(std::string_view text) {
    std::map<std::string, double, std::less<>> samples;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto space = line.rfind(' ');
        if (line.starts_with('#') || space == std::string_view::npos) continue;
        double value = 0;
        std::from_chars(line.data() + space + 1, line.data() + line.size(), value);
        samples.emplace(line.substr(0, space), value);
    }
    return samples;
}

class client_of_all {
  public:
    client_of_all(const trace& t, const setting& how, const std::vector<child>& proxies, std::uint16_t origin,
                  outcome& o)
        : trace_(t), how_(how), proxies_(proxies), outcome_(o) {
        for (const auto& each : t.objects)
            urls_.push_back("http://" + loopback(origin).text() + path_of(each.name, each.bytes));
        worker_.watch.start();
    }

    void run(const on_progress& progress) {
        progress_ = progress;
        for (std::uint32_t i = 0; i < how_.concurrency; ++i)
            asio::co_spawn(worker_.context, work(), [this](const std::exception_ptr& failed) {
                if (failed) failure_ = failed;
                if (++ended_ == how_.concurrency) finish();
            });
        worker_.context.run();
        if (failure_) std::rethrow_exception(failure_);
        std::ranges::sort(latencies_);
        const auto at = [&](double share) {
            if (latencies_.empty()) return 0.0;
            return latencies_[static_cast<std::size_t>(share * static_cast<double>(latencies_.size() - 1))];
        };
        outcome_.p50 = at(0.5), outcome_.p90 = at(0.9), outcome_.p99 = at(0.99);
    }

  private:
    http::task<void> work() {
        while (next_ < trace_.requests.size()) {
            const auto [proxy, object] = trace_.requests[next_++];
            co_await request(proxy, object);
            if (progress_ && next_ % 256 == 0) progress_(next_);
        }
    }

    http::task<http::answer> get(std::uint32_t proxy, std::string target) {
        http::request_head head{"GET", std::move(target), {}};
        head.fields.add("Host", "127.0.0.1");
        const auto to = loopback(proxies_[proxy].port());
        const http::limits limits;
        co_return co_await worker_.client.ask(to, false, head, {}, limits, time_limit);
    }

    http::task<void> request(std::uint32_t proxy, std::uint32_t object) {
        const std::string& url = urls_[object];
        const auto start = time_.now();
        const auto got = co_await get(proxy, url);
        const double seconds = std::chrono::duration<double>(time_.now() - start).count();
        latencies_.push_back(seconds);
        outcome_.seconds += seconds;
        ++outcome_.requests;
        const auto path = http::parse_url(url)->path;
        if (got.head.status != 200 || got.body != body_of(path, trace_.objects[object].bytes))
            ++outcome_.wrong;
        // Each proxy on the way adds a member; the last one is of the proxy that we asked.
        const auto status = got.head.fields.combined("Cache-Status").value_or("");
        const auto members = http_cache::list_members(status);
        const auto last = members.empty() ? std::string_view() : members.back();
        if (last.find("; hit") != std::string_view::npos) {
            ++outcome_.local;
        } else if (last.find("detail=px") != std::string_view::npos) {
            ++outcome_.sibling;
        } else {
            ++outcome_.origin;
            if (how_.concurrency == 1) co_await look_for_false_miss(proxy, url);
        }
    }

    // No other requests run: a sibling that has the object now had it before, too.
    http::task<void> look_for_false_miss(std::uint32_t proxy, const std::string& url) {
        for (std::uint32_t other = 0; other < how_.proxies; ++other) {
            if (other == proxy) continue;
            const auto got = co_await get(other, "/have?key=" + http::percent_encoded(url));
            if (got.head.status != 204) continue;
            ++outcome_.false_misses;
            break;
        }
    }

    void finish() {
        asio::co_spawn(worker_.context, collect(), [this](const std::exception_ptr& failed) {
            if (failed) failure_ = failed;
            worker_.watch.stop();
            worker_.context.stop();
        });
    }

    http::task<void> collect() {
        for (std::uint32_t i = 0; i < how_.proxies; ++i) {
            const auto got = co_await get(i, "/metrics");
            const auto samples = samples_of(got.body);
            const auto value = [&](std::string_view name) {
                const auto found = samples.find(name);
                return found == samples.end() ? 0.0 : found->second;
            };
            const auto count = [&](std::string_view name) { return static_cast<std::uint64_t>(value(name)); };
            const auto sent = [&](std::string_view kind) {
                return count(fmt::format("posy_summary_sent_bytes_total{{kind=\"{}\"}}", kind));
            };
            outcome_.whole_bytes += sent("whole");
            outcome_.delta_bytes += sent("delta");
            outcome_.question_bytes += sent("question");
            outcome_.framing_bytes += sent("framing") + sent("hint");
            outcome_.false_by_filter += count("posy_proxy_false_hits_total{cause=\"filter\"}");
            outcome_.false_by_age += count("posy_proxy_false_hits_total{cause=\"age\"}");
            outcome_.objects += value("posy_cache_objects{tier=\"memory\"}") / how_.proxies;
            outcome_.cpu_seconds += proxies_[i].cpu_seconds();
        }
    }

    const trace& trace_;
    const setting& how_;
    const std::vector<child>& proxies_;
    outcome& outcome_;
    http::system_time time_;
    http::worker worker_{time_};
    std::vector<std::string> urls_;
    std::vector<double> latencies_;
    std::size_t next_ = 0;
    std::uint32_t ended_ = 0;
    on_progress progress_;
    std::exception_ptr failure_;
};

}  // namespace

outcome run(const trace& t, const setting& how, const on_progress& progress) {
    const auto ports = free_ports(how.proxies + 1);  // the last one for the origin
    const auto port = ports.back();
    const child origin({"replay", "--as-origin", std::to_string(port)}, port);
    const auto proxies = start_proxies(how, ports);
    outcome o{.how = how};
    client_of_all(t, how, proxies, port, o).run(progress);
    return o;
}

}  // namespace posy::lab
