#include "check_service.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

#include "answers.hpp"
#include "http/elsewhere.hpp"
#include "posy/base/file.hpp"
#include "posy/base/wipe.hpp"
#include "posy/dictionary/password_list.hpp"
#include "posy/message.hpp"

namespace posy::node {

using namespace std::chrono_literals;
using dictionary::password_list, dictionary::password_verdict;

namespace {

constexpr std::size_t longest_body = 64 * 1024;

template <class Body>
concept can_be_asked = requires(const Body& body, digest d) {
    { body.may_contain(d) } -> std::same_as<bool>;
    { body.hash() } -> std::same_as<hasher>;
};

template <class Body>
constexpr bool is_map = std::same_as<Body, bloomier_map>;

// A key per line, LF or CR LF at its end; the last may lack it.
std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> all;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        all.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

// A file that only we can change, with the bytes that the other one has now; at its start.
result<base::descriptor> copy_in_memory(int file, std::uint64_t size) {
    base::descriptor copy(memfd_create("posy check", MFD_CLOEXEC));
    if (copy.get() < 0) return base::system_error("cannot copy it into memory");
    std::vector<std::byte> part(std::min<std::uint64_t>(size, 1 << 20));
    for (std::uint64_t at = 0; at < size;) {
        const auto room = std::span(part).first(std::min<std::uint64_t>(size - at, part.size()));
        const auto got = base::read_fully(file, room, at);
        if (!got) return got.error();
        if (*got == 0) break;  // it became shorter: the reader will say so
        if (auto kept = base::write_fully(copy.get(), room.first(*got)); !kept) return kept.error();
        at += *got;
    }
    if (lseek(copy.get(), 0, SEEK_SET) != 0) return base::system_error("cannot copy it into memory");
    return copy;
}

// As posy::load() does, which maps the file, but from a copy: mapped bytes change when others overwrite the
// file in place, long after the checksum was verified, and are gone when they make it shorter.
result<message> load_copy(const std::string& path) {
    auto file = base::open_for_reading(path);
    if (!file) return file.error();
    if (const auto size = base::regular_size(file->get())) file = copy_in_memory(file->get(), *size);
    if (!file) return file.error();
    auto next = message_reader(file->get()).next();
    if (!next) return next.error();
    return std::move(**next);
}

// A password in a wrapping would be checked with it, and pass. curl calls any body a form, so a form is one
// that begins as one.
bool is_wrapped(const http::request& r, std::string_view body) {
    const auto type = r.head.fields.find("Content-Type").value_or("");
    return type.starts_with("application/json") || type.starts_with("multipart/") ||
           (type.starts_with("application/x-www-form-urlencoded") && body.starts_with("password="));
}

}  // namespace

struct check_service::reply {
    nlohmann::json said;
    std::uint64_t yes = 0, no = 0;
};

struct check_service::filter {
    any_body body;
    std::optional<password_list> passwords;  // if it is a list of them

    bool can_answer() const {
        return std::visit([]<class Body>(const Body&) { return can_be_asked<Body> || is_map<Body>; }, body);
    }

    // What answers are called. Clients rely on it.
    std::string_view form() const {
        if (passwords) return "refused";
        return std::holds_alternative<bloomier_map>(body) ? "values" : "may_contain";
    }

    std::string description() const {
        if (passwords) return fmt::format("a list of {} passwords", passwords->passwords());
        const std::optional<std::uint64_t> items = std::visit(
            []<class Body>(const Body& of) -> std::optional<std::uint64_t> {
                if constexpr (requires { of.items(); }) return of.items();
                return std::nullopt;
            },
            body);
        return fmt::format("kind {}, {} items", name_of(kind_of(body)),
                           items ? std::to_string(*items) : "an unknown number of");
    }

    // Of a map the values, of others whether the keys may be there.
    reply check_keys(std::string_view text) const {
        reply made;
        nlohmann::json all = nlohmann::json::array();
        const auto tell = [&](bool yes, const nlohmann::json& what) {
            ++(yes ? made.yes : made.no);
            all.push_back(what);
        };
        const auto keys = lines_of(text);
        std::visit(
            [&]<class Body>(const Body& each) {
                for (const auto key : keys) {
                    if constexpr (is_map<Body>) {
                        const auto value = each.find(each.hash()(key));
                        tell(value.has_value(), value ? nlohmann::json(*value) : nlohmann::json());
                    } else if constexpr (can_be_asked<Body>) {
                        const bool yes = each.may_contain(each.hash()(key));
                        tell(yes, yes);
                    }
                }
            },
            body);
        made.said = {{form(), std::move(all)}};
        return made;
    }

    reply check_password(std::string_view password) const {
        static const auto letters = dictionary::alphabet(dictionary::printable_ascii());
        const auto verdict = passwords->check(password, letters);
        base::wipe_stack();
        const bool refused = verdict != password_verdict::fine;
        return {{{form(), refused}, {"why", name_of(verdict)}}, refused, !refused};
    }
};

std::shared_ptr<const check_service::filter> check_service::load(const std::string& path) {
    auto loaded = load_copy(path);
    if (!loaded) throw std::runtime_error("--check-list " + path + ": " + loaded.error().text());
    auto made = std::make_shared<filter>(filter{std::move(loaded->body), {}});
    if (const auto* sealed = std::get_if<sealed_filter>(&made->body)) {
        if (auto list = password_list::open(*sealed)) made->passwords = std::move(*list);
    }
    if (!made->can_answer())
        throw std::runtime_error("--check-list " + path +
                                 ": it cannot be asked for keys: a message of kind " +
                                 std::string(name_of(kind_of(made->body))));
    return made;
}

check_service::check_service(std::string path) : path_(std::move(path)), filter_(load(path_)) {
    if (filter_->passwords) base::forbid_core_dumps();  // so it stays: prepare() takes no other form
}
check_service::~check_service() = default;

std::string check_service::description() const {
    return fmt::format("{} ({})", path_, present()->description());
}

std::shared_ptr<const check_service::filter> check_service::present() const {
    const std::lock_guard lock(mutex_);
    return filter_;
}

std::shared_ptr<const check_service::filter> check_service::prepare() const {
    auto fresh = load(path_);
    if (const auto held = present(); fresh->form() != held->form())
        throw std::runtime_error(
            fmt::format("--check-list {}: it would be answered with \"{}\" instead of \"{}\"; start the node "
                        "again if that is meant",
                        path_, fresh->form(), held->form()));
    return fresh;
}

void check_service::use(std::shared_ptr<const filter> fresh) {
    const std::lock_guard lock(mutex_);
    filter_ = std::move(fresh);
}

http::task<http::response> check_service::answer(http::request& r) {
    const auto held = present();
    const bool secret = held->passwords.has_value();
    const std::size_t most = secret ? password_list::longest + 2 : longest_body;  // and the end of its line
    // Shared with the work, which may outlive this coroutine.
    const auto body = std::make_shared<base::secret_text>(secret ? most : 0);
    while (co_await r.reader.more(r.parsing)) {
        const bool fits = (*body)->size() + r.parsing.piece.size() <= most;
        if (fits) (*body)->append(r.parsing.piece);
        base::wipe(r.parsing.piece);
        if (!fits)
            throw http::refusal(413, secret ? "a password of /check has at most 128 bytes"
                                            : "the body of /check has at most 64 KiB; send more requests");
        r.connection.expires_after(60s);
    }
    std::string_view text = **body;
    if (secret) {
        if (is_wrapped(r, text))
            co_return node::answer(415, "the body is the bare password: no JSON, and no form\n");
        if (text.ends_with('\n')) text.remove_suffix(1);
        if (text.ends_with('\r')) text.remove_suffix(1);
        if (text.find('\n') != std::string_view::npos)
            co_return node::answer(400, "one password per request: the body has several lines\n");
        if (text.size() > password_list::longest)
            co_return node::answer(413, "a password of /check has at most 128 bytes\n");
    }
    auto work = [held, body, text, secret] {
        return secret ? held->check_password(text) : held->check_keys(text);
    };
    const reply made = co_await http::elsewhere(r.here.context, working_, std::move(work));
    r.connection.expires_after(60s);
    yes_ += made.yes, no_ += made.no;
    auto a = json(made.said);
    a.head.fields.add("Cache-Control", "no-store");
    co_return a;
}

void check_service::describe(metrics& m) const {
    const auto checked = [&](std::string_view answer, const std::atomic<std::uint64_t>& n) {
        m.counter("posy_checked_total", "Keys and passwords that /check was asked for, by answer",
                  static_cast<double>(n.load()), metrics::label("answer", answer));
    };
    checked("yes", yes_);
    checked("no", no_);
}

void check_service::finish() {
    working_.stop();
    working_.join();
}

}  // namespace posy::node
