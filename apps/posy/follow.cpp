// posy follow: a copy of a filter that someone publishes, kept current. So did Vistabar, whose clients had a
// filter of all annotated URLs and asked only for the notes on those (Broder & Mitzenmacher 2004, 5).
//
// One thread asks the server and writes the file; with --query another reads keys and answers them from what
// is held at that moment. Whatever fails, the last good copy stays in use.
#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "locking.hpp"
#include "node/backoff.hpp"
#include "node/remote.hpp"
#include "node/summary_protocol.hpp"
#include "numbers.hpp"
#include "posy/base/file.hpp"
#include "source.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct options {
    std::string url, output;
    fetch_options how;
    reading_options reading;
    lock_options lock;
    bool query = false, once = false, quiet = false;
    double poll = 30;
    unsigned wait = 60;
};

// Whether keys of standard input may be in the set, a line for each, until their end or until it is told to
// stop. Each line is answered as it comes, before the next is needed.
class answering {
  public:
    // `ended` is called on this object's thread, with what went wrong, if anything did.
    answering(const node::follower& from, std::function<void(std::exception_ptr)> ended)
        : from_(from), ended_(std::move(ended)), thread_([this] { work(); }) {}
    ~answering() {
        const std::uint64_t one = 1;
        (void)!write(wake_.get(), &one, sizeof one);
        thread_.join();
    }
    bool found() const { return found_; }

  private:
    void work() {
        std::exception_ptr failed;
        try {
            while (read_some()) answer_lines();
            if (!pending_.empty() && !stopped_) {  // the last line may lack its end
                pending_ += '\n';
                answer_lines();
            }
        } catch (...) {
            failed = std::current_exception();
        }
        ended_(failed);
    }
    bool read_some() {
        std::array<pollfd, 2> either{{{STDIN_FILENO, POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
        while (::poll(either.data(), either.size(), -1) < 0) {
            if (errno != EINTR) throw failure(base::system_error("standard input").message);
        }
        stopped_ = either[1].revents != 0;
        if (stopped_) return false;
        std::array<char, 65536> buffer;
        ssize_t got = 0;
        do got = read(STDIN_FILENO, buffer.data(), buffer.size());
        while (got < 0 && errno == EINTR);
        if (got < 0) throw failure("standard input: " + base::system_error("cannot read").message);
        pending_.append(buffer.data(), static_cast<std::size_t>(got));
        return got > 0;
    }
    void answer_lines() {
        std::string out;
        std::size_t at = 0;
        from_.use([&](const bloom_filter& filter) {
            const hasher hash = filter.hash();
            // What was looked through before has no end of a line: a long one is not searched again.
            for (std::size_t end = searched_; (end = pending_.find('\n', end)) != std::string::npos;
                 end = at) {
                const auto key = std::string_view(pending_).substr(at, end - at);
                const bool yes = filter.may_contain(hash(key));
                found_ = found_ || yes;
                out.append(yes ? "yes\t" : "no\t").append(key).push_back('\n');
                at = end + 1;
            }
        });
        pending_.erase(0, at);
        searched_ = pending_.size();
        if (!out.empty()) print(out);
    }

    const node::follower& from_;
    std::function<void(std::exception_ptr)> ended_;
    base::descriptor wake_{eventfd(0, EFD_CLOEXEC)};
    std::string pending_;
    std::size_t searched_ = 0;  // bytes of it
    bool found_ = false, stopped_ = false;
    std::thread thread_;
};

class following {
  public:
    explicit following(const options& o) : o_(o), follower_(here_, o.how.remote(o.url, o.reading.limits())) {
        if (!o_.output.empty()) go_on_from_file();
    }
    ~following() {
        answering_.reset();
        here_.context.shutdown();
    }

    void run() {
        here_.watch.start();
        asio::signal_set signals(here_.context, SIGINT, SIGTERM);
        signals.async_wait([this](const boost::system::error_code& failed, int) {
            if (!failed) stop(nullptr);
        });
        asio::co_spawn(here_.context, follow(), [this](const std::exception_ptr& failed) { stop(failed); });
        here_.context.run();
        if (failed_) std::rethrow_exception(failed_);
        if (answering_ && ended_ && !answering_->found()) throw answer_is_no{};
    }

  private:
    // What was kept there saves asking for the whole. Any other file is the user's, and not to be
    // overwritten.
    void go_on_from_file() {
        check_output(o_.output);
        lock_.emplace(change_lock::to_change({o_.output}, o_.output, o_.lock));
        if (!std::filesystem::exists(o_.output)) return;
        std::ifstream file(o_.output, std::ios::binary);
        const std::string bytes(std::istreambuf_iterator<char>(file), {});
        if (!follower_.resume(as_byte_view(bytes)))
            throw failure(
                o_.output +
                ": is there, and is not a filter that could be brought up to date; name another file");
    }

    http::task<void> follow() {
        node::backoff patience;
        for (bool first = true;; first = false) {
            const auto wait = first ? 0s : std::chrono::seconds(o_.wait);
            const auto start = time_.now();
            std::string why;
            bool news = false;
            try {
                news = co_await follower_.ask(wait);
                unsaved_ = unsaved_ || news;
                save();
            } catch (const std::runtime_error& e) {
                why = e.what();
            }
            if (!why.empty() && (o_.once || !follower_.filter())) throw failure(o_.url + ": " + why);
            tell(news, why, patience.failures());
            if (o_.once) co_return;
            if (o_.query && !answering_) start_answering();
            std::chrono::milliseconds pause = why.empty() ? 0ms : patience.failed();
            if (why.empty()) {
                patience.succeeded();
                const bool held = wait > 0s && time_.now() - start > wait / 2;
                if (news)
                    pause = 100ms;  // a page that is never the same twice is no filter: do not hurry
                else if (!first && !held)
                    pause = follower_.holds_requests() && o_.wait > 0 ? node::backoff::first : poll();
            }
            co_await next_question_.pause(pause);
        }
    }

    std::chrono::milliseconds poll() const {
        return std::chrono::milliseconds(static_cast<std::int64_t>(o_.poll * 1000));
    }

    // A disk that is full today has room tomorrow: what could not be written is tried again.
    void save() {
        if (!unsaved_ || o_.output.empty()) return;
        if (auto done = posy::save(o_.output, *follower_.filter(), {.generation = follower_.generation()});
            !done)
            throw std::runtime_error(o_.output + ": " + done.error().text());
        unsaved_ = false;
    }

    void tell(bool news, const std::string& why, unsigned failures_before) const {
        if (!why.empty()) {
            if (failures_before == 0)
                fmt::print(stderr, "posy: {}: {}; what is here stays in use\n", o_.url, why);
            return;
        }
        if (o_.quiet) return;
        if (failures_before > 0) fmt::print(stderr, "posy: {}: answers again\n", o_.url);
        if (news)
            fmt::print(stderr, "posy: {}: generation {}, {} items, {} of {} bytes\n", o_.url,
                       follower_.generation(),
                       follower_.filter()->items() ? count(static_cast<double>(*follower_.filter()->items()))
                                                   : "unknown",
                       follower_.by_delta() ? "a delta" : "the whole", follower_.bytes());
    }

    void start_answering() {
        answering_.emplace(follower_, [this](const std::exception_ptr& failed) {
            asio::post(here_.context, [this, failed] {
                ended_ = true;
                stop(failed);
            });
        });
    }

    void stop(const std::exception_ptr& failed) {
        if (failed && !failed_) failed_ = failed;
        here_.watch.stop();
        here_.context.stop();
    }

    const options& o_;
    std::optional<change_lock> lock_;  // of the copy, which is ours as long as we follow
    http::system_time time_;
    http::worker here_{time_};
    node::follower follower_;
    http::alarm next_question_{time_, here_.context};
    bool unsaved_ = false, ended_ = false;
    std::exception_ptr failed_;
    std::optional<answering> answering_;
};

void run(const options& o) {
    if (!is_url(o.url)) throw failure(o.url + ": follow needs a URL; write http://HOST:PORT/PATH");
    if (o.output.empty() && !o.query)
        throw failure("follow: name a file for the copy with -o, or ask for answers with --query");
    if (o.output == "-") throw failure("follow: the copy is a file that is replaced; -o cannot be -");
    following(o).run();
}

}  // namespace

void add_follow(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line command = add_command(
        app, "follow", "Keep a copy of a filter that is published at a URL",
        "  posy follow http://10.0.0.2:3130/summary -o theirs.posy          a node's filter, by deltas\n"
        "  posy follow https://example.org/annotated.posy -o annotated.posy  a file on a web server\n"
        "  posy follow --once https://example.org/annotated.posy -o annotated.posy     from cron\n"
        "  posy follow --query http://10.0.0.2:3130/summary                 yes or no for every line\n"
        "The copy is replaced as a whole with every new version; 'posy query' reads it at any time. A copy\n"
        "from an earlier run is brought up to date. If the server fails after the first answer, the copy\n"
        "stays in use and the server is asked again after half a second, one, two, … 16 seconds.\n"
        "Ends on SIGINT, SIGTERM, or the end of the keys. Exit status: 2 on an error; with --query 0 if a "
        "key\n"
        "may be in the set and 1 if none; else 0.");
    command.add_option("URL", o->url, "URL at which the filter is published").required();
    command.add_option("-o,--output FILE", o->output,
                       "File for the copy; replaced with every new version (default: none; needs --query)");
    command.add_flag("--query", o->query,
                     "Read keys from standard input, one per line, and print for each 'yes' (it "
                     "may be in the set) or 'no', a tab and the key");
    command.add_flag("--once", o->once, "Bring the copy up to date once, and exit").excludes("--query");
    command
        .add_option("--poll SECONDS", o->poll,
                    "Seconds between questions to a server that does not keep requests open as a node does")
        .excludes("--once")
        .between(0.1, 1e6)
        .shows_default();
    command
        .add_option("--wait SECONDS", o->wait,
                    "Seconds for which a node is asked to keep a request open until it has news, at most "
                    "300; 0: use --poll")
        .excludes("--once")
        .between(0, node::question::longest_wait.count())
        .shows_default();
    command.add_flag("-q,--quiet", o->quiet, "Print nothing but errors and answers");
    o->how.add_to(command);
    o->lock.add_to(command);
    o->reading.add_to(command);
    command.runs([o] {
        std::signal(SIGPIPE, SIG_IGN);  // a server that hangs up is asked again
        run(*o);
    });
}

}  // namespace posy::tool
