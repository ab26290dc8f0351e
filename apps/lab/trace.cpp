#include "trace.hpp"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include "posy/digest.hpp"

namespace posy::lab {

namespace {

class lines {
  public:
    explicit lines(const std::string& path) : file_(gzopen(path.c_str(), "rb"), gzclose) {
        if (!file_) throw std::runtime_error(path + ": cannot be read");
    }
    bool next(std::string& line) {
        line.clear();
        for (char part[4096]; gzgets(file_.get(), part, sizeof part);) {
            line += part;
            if (!line.ends_with('\n')) continue;
            line.pop_back();
            if (line.ends_with('\r')) line.pop_back();
            return true;
        }
        int code = 0;
        gzerror(file_.get(), &code);
        if (code != Z_OK && code != Z_STREAM_END)
            throw std::runtime_error("the compressed trace is damaged; check it with gzip -t");
        return !line.empty();
    }

  private:
    std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;  // "-" in a log stands for 0
}

std::vector<std::string_view> columns_of(std::string_view line) {
    std::vector<std::string_view> columns;
    for (;;) {
        const auto end = line.find('\t');
        columns.push_back(line.substr(0, end));
        if (end == std::string_view::npos) return columns;
        line.remove_prefix(end + 1);
    }
}

struct request {
    std::string_view host, url;
    std::optional<std::uint32_t> proxy;
    std::uint64_t bytes = 0;
};

// Nothing for methods other than GET and for lines that are not of a log.
std::optional<request> common_log_line(std::string_view line) {
    const auto host = line.substr(0, line.find(' '));
    const auto quote = line.find('"');
    const auto end = line.rfind('"');
    if (quote == std::string_view::npos || end <= quote) return std::nullopt;
    auto asked = line.substr(quote + 1, end - quote - 1);
    if (!asked.starts_with("GET ")) return std::nullopt;
    asked.remove_prefix(4);
    const auto url = asked.substr(0, asked.find(' '));
    const auto space = line.rfind(' ');
    return request{host, url, std::nullopt, number(line.substr(space + 1))};
}

class table_lines {
  public:
    explicit table_lines(std::string_view header) {
        const auto names = columns_of(header);
        const auto find = [&](std::string_view name) {
            return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
        };
        url_ = std::min(find("object"), find("url"));
        proxy_ = find("proxy"), host_ = find("host"), bytes_ = find("bytes"), method_ = find("method");
        found_ = url_ < names.size();
    }
    bool found() const { return found_; }
    std::optional<request> read(std::string_view line) const {
        const auto cells = columns_of(line);
        const auto cell = [&](std::size_t i) { return i < cells.size() ? cells[i] : std::string_view(); };
        if (cell(url_).empty() || (!cell(method_).empty() && cell(method_) != "GET")) return std::nullopt;
        request r{cell(host_), cell(url_), std::nullopt, number(cell(bytes_))};
        if (!cell(proxy_).empty()) r.proxy = static_cast<std::uint32_t>(number(cell(proxy_)));
        return r;
    }

  private:
    std::size_t url_, proxy_, host_, bytes_, method_;
    bool found_;
};

}  // namespace

trace read_trace(const std::string& path, std::uint32_t proxies, std::size_t limit) {
    lines in(path);
    std::string line;
    if (!in.next(line)) throw std::runtime_error(path + ": the trace is empty");
    const table_lines table(line);
    trace t;
    std::unordered_map<std::string, std::uint32_t> known;
    const auto take = [&](const request& r) {
        const auto [at, fresh] =
            known.try_emplace(std::string(r.url), static_cast<std::uint32_t>(t.objects.size()));
        if (fresh) {
            const auto slash = std::min(r.url.find_first_not_of('/'), r.url.size());
            t.objects.push_back({std::string(r.url.substr(slash)), r.bytes});
        }
        t.objects[at->second].bytes = std::max(t.objects[at->second].bytes, r.bytes);
        const auto proxy = r.proxy ? *r.proxy : static_cast<std::uint32_t>(hasher()(r.host).low % proxies);
        t.requests.push_back({proxy % proxies, at->second});
    };
    if (!table.found()) {
        if (const auto first = common_log_line(line)) take(*first);
    }
    while (t.requests.size() < limit && in.next(line)) {
        if (const auto r = table.found() ? table.read(line) : common_log_line(line)) take(*r);
    }
    if (t.requests.empty())
        throw std::runtime_error(path +
                                 ": no requests found; give a table whose first line names the columns, or a "
                                 "log in the common format");
    return t;
}

trace made_up_trace(std::uint32_t proxies, std::size_t requests, std::size_t objects) {
    std::mt19937_64 random(1);
    std::vector<double> weights;
    trace t;
    for (std::size_t i = 0; i < objects; ++i) {
        weights.push_back(std::pow(static_cast<double>(i + 1), -0.8));
        t.objects.push_back({"object/" + std::to_string(i), 500 + random() % 8000});
    }
    std::discrete_distribution<std::uint32_t> draw(weights.begin(), weights.end());
    for (std::size_t i = 0; i < requests; ++i)
        t.requests.push_back({static_cast<std::uint32_t>(random() % proxies), draw(random)});
    return t;
}

}  // namespace posy::lab
