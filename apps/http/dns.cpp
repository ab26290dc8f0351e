#include "dns.hpp"

#include <ares.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/stat.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <unordered_map>

#include "dns_message.hpp"

namespace posy::http {

namespace {

constexpr const char* settings_file = "/etc/resolv.conf";
constexpr auto look_at_settings = 2s;    // at most that often
constexpr auto look_at_timeouts = 50ms;  // while anything is open

// A socket of c-ares while its loop waits for it. c-ares closes it.
struct watched {
    watched(asio::io_context& loop, int socket) : descriptor(loop, socket) {}
    asio::posix::stream_descriptor descriptor;
    bool reads = false, writes = false, closed = false;
    bool waits_to_read = false, waits_to_write = false;
};

// A name that is being looked up.
struct inquiry {
    inquiry(timekeeper& time, asio::io_context& loop, dns::done f) : delay(time, loop), tell(std::move(f)) {}
    alarm delay;
    dns::done tell;
    std::array<name_answer, 2> said;
    unsigned open = 2;

    void take(record kind, name_answer answer) {
        said[static_cast<std::size_t>(kind)] = std::move(answer);
        if (--open == 0) finish();
    }
    bool any() const { return !said[0].addresses.empty() || !said[1].addresses.empty(); }
    // IPv6 first. Where a part is missing, all of it is soon asked for again.
    void finish() {
        if (!tell) return;
        name_answer all;
        all.answered = open == 0 && said[0].answered && said[1].answered;
        for (const auto& part : {said[1], said[0]}) {
            all.addresses.insert(all.addresses.end(), part.addresses.begin(), part.addresses.end());
            if (any() && part.addresses.empty()) continue;
            if (part.lifetime) all.lifetime = std::min(all.lifetime.value_or(*part.lifetime), *part.lifetime);
        }
        std::exchange(tell, nullptr)(std::move(all));
        delay.stop();
    }
};

task<void> finish_soon(std::shared_ptr<inquiry> of) {
    const bool came = co_await of->delay.pause(dns::resolution_delay);
    if (came) of->finish();
}

std::string csv_of(const dns::servers& all) {
    std::string text;
    for (const auto& each : all) {
        const auto host = each.address().to_string();
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",",
                            each.address().is_v6() ? "[" + host + "]" : host, each.port());
    }
    return text;
}

// A channel of c-ares, driven by a loop.
class stub : public std::enable_shared_from_this<stub> {
  public:
    stub(asio::io_context& loop, timekeeper& time, const dns::servers& servers)
        : loop_(loop), next_look_(time, loop) {
        ares_options how{};
        how.timeout = static_cast<int>(std::chrono::milliseconds(dns::patience).count());
        how.tries = dns::tries;
        how.sock_state_cb = [](void* self, ares_socket_t socket, int reads, int writes) {
            static_cast<stub*>(self)->follow(socket, reads != 0, writes != 0);
        };
        how.sock_state_cb_data = this;
        if (const int failed = ares_init_options(
                &channel_, &how, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB))
            throw std::runtime_error(std::string("name servers: ") + ares_strerror(failed));
        if (!servers.empty()) ares_set_servers_ports_csv(channel_, csv_of(servers).c_str());
    }
    stub(const stub&) = delete;
    stub& operator=(const stub&) = delete;
    ~stub() { close(); }

    // Answers what is open as failed.
    void close() {
        if (channel_) ares_destroy(std::exchange(channel_, nullptr));
    }
    bool idle() const { return open_ == 0; }

    std::optional<name_answer> in_hosts_file(const std::string& name) {
        name_answer found;
        for (const int family : {AF_INET6, AF_INET}) {
            hostent* host = nullptr;
            if (ares_gethostbyname_file(channel_, name.c_str(), family, &host) != ARES_SUCCESS) continue;
            const std::unique_ptr<hostent, decltype(&ares_free_hostent)> owner(host, ares_free_hostent);
            for (char** each = host->h_addr_list; *each; ++each) add_address(found, *each, host->h_addrtype);
        }
        if (found.addresses.empty()) return std::nullopt;
        return found;
    }

    void ask(const std::string& name, const std::shared_ptr<inquiry>& of) {
        open_ += 2;
        for (const auto kind : {record::v6, record::v4}) {
            auto* mine = new question{*this, of, kind};
            constexpr int internet = 1, type_a = 1, type_aaaa = 28;
            const int type = kind == record::v4 ? type_a : type_aaaa;
            const bool whole = name.find('.') != std::string::npos;
            (whole ? ares_query : ares_search)(channel_, name.c_str(), internet, type, answered, mine);
        }
        if (!looking_) asio::co_spawn(loop_, look(shared_from_this()), asio::detached);
        looking_ = true;
    }

  private:
    struct question {
        stub& at;
        std::shared_ptr<inquiry> of;
        record kind;
    };

    static void add_address(name_answer& to, const char* bytes, int family) {
        if (family == AF_INET6) {
            asio::ip::address_v6::bytes_type v6;
            std::memcpy(v6.data(), bytes, v6.size());
            to.addresses.emplace_back(asio::ip::address_v6(v6));
        } else {
            asio::ip::address_v4::bytes_type v4;
            std::memcpy(v4.data(), bytes, v4.size());
            to.addresses.emplace_back(asio::ip::address_v4(v4));
        }
    }

    // By c-ares; also while the question is being asked, and when the channel is closed.
    static void answered(void* mine, int status, int /*timeouts*/, unsigned char* bytes, int length) {
        const std::unique_ptr<question> owner(static_cast<question*>(mine));
        auto& [at, of, kind] = *owner;
        --at.open_;
        of->take(kind, read_answer(kind, status, {bytes, bytes ? static_cast<std::size_t>(length) : 0}));
        if (of->open == 1 && of->any() && at.channel_)
            asio::co_spawn(at.loop_, finish_soon(of), asio::detached);
    }

    // What c-ares wants to know of a socket now; neither: it is about to close it.
    void follow(ares_socket_t socket, bool reads, bool writes) {
        const auto found = sockets_.find(socket);
        if (!reads && !writes) {
            if (found == sockets_.end()) return;
            found->second->closed = true;
            found->second->descriptor.release();
            sockets_.erase(found);
            return;
        }
        auto& here = sockets_[socket];
        if (!here) here = std::make_shared<watched>(loop_, socket);
        here->reads = reads;
        here->writes = writes;
        if (reads && !std::exchange(here->waits_to_read, true)) wait(here, socket, true);
        if (writes && !std::exchange(here->waits_to_write, true)) wait(here, socket, false);
    }
    void wait(const std::shared_ptr<watched>& on, ares_socket_t socket, bool to_read) {
        using descriptor = asio::posix::stream_descriptor;
        on->descriptor.async_wait(
            to_read ? descriptor::wait_read : descriptor::wait_write,
            [self = shared_from_this(), on, socket, to_read](const boost::system::error_code& failed) {
                (to_read ? on->waits_to_read : on->waits_to_write) = false;
                if (failed || on->closed || !self->channel_) return;
                ares_process_fd(self->channel_, to_read ? socket : ARES_SOCKET_BAD,
                                to_read ? ARES_SOCKET_BAD : socket);
                if (on->closed) return;
                if (to_read && on->reads && !std::exchange(on->waits_to_read, true))
                    self->wait(on, socket, true);
                if (!to_read && on->writes && !std::exchange(on->waits_to_write, true))
                    self->wait(on, socket, false);
            });
    }
    // Asks again, and gives up, in time.
    static task<void> look(std::shared_ptr<stub> self) {
        while (self->open_ > 0 && self->channel_) {
            co_await self->next_look_.pause(look_at_timeouts);
            if (self->channel_) ares_process_fd(self->channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
        }
        self->looking_ = false;
    }

    asio::io_context& loop_;
    alarm next_look_;
    ares_channel channel_ = nullptr;
    std::unordered_map<ares_socket_t, std::shared_ptr<watched>> sockets_;
    std::size_t open_ = 0;
    bool looking_ = false;
};

}  // namespace

// All of it but the thread is used on that thread, and by the destructor when it has ended.
struct dns::desk {
    desk(timekeeper& t, servers named) : time(t), from(std::move(named)), worker([this] { loop.run(); }) {}
    ~desk() {
        loop.stop();
        worker.join();
        for (const auto& each : stubs) each->close();
    }

    void look_up(const std::string& name, const done& tell) {
        auto& current = stub_now();
        if (auto known = current.in_hosts_file(name)) return tell(std::move(*known));
        if (name == "localhost" || name.ends_with(".localhost"))  // RFC 6761, 6.3
            return tell({{asio::ip::address_v6::loopback(), asio::ip::address_v4::loopback()}, {}});
        current.ask(name, std::make_shared<inquiry>(time, loop, tell));
    }

    // A new one when the system's servers have changed; those before are kept until they are done.
    stub& stub_now() {
        const auto now = time.now();
        if (stubs.empty() || (from.empty() && now >= next_settings)) {
            struct stat file {};
            if (::stat(settings_file, &file) != 0) file = {};
            const bool same = !stubs.empty() && file.st_mtim.tv_sec == settings.st_mtim.tv_sec &&
                              file.st_mtim.tv_nsec == settings.st_mtim.tv_nsec &&
                              file.st_ino == settings.st_ino;
            if (!same) {
                std::erase_if(stubs, [](const auto& each) { return each->idle(); });
                stubs.push_back(std::make_shared<stub>(loop, time, from));
            }
            settings = file;
            next_settings = now + look_at_settings;
        }
        return *stubs.back();
    }

    timekeeper& time;
    const servers from;
    asio::io_context loop{1};
    asio::executor_work_guard<asio::io_context::executor_type> stay{loop.get_executor()};
    std::vector<std::shared_ptr<stub>> stubs;  // the last is in use
    clock::time_point next_settings;
    struct stat settings {};
    std::thread worker;
};

dns::dns(timekeeper& time, servers named) {
    static const int ready = ares_library_init(ARES_LIB_INIT_ALL);
    if (ready != ARES_SUCCESS) throw std::runtime_error("c-ares cannot be used on this machine");
    desk_ = std::make_unique<desk>(time, std::move(named));
}

dns::~dns() = default;

void dns::ask(std::string name, done tell) {
    asio::post(desk_->loop, [desk = desk_.get(), name = std::move(name), tell = std::move(tell)]() mutable {
        try {
            desk->look_up(name, tell);
        } catch (const std::exception&) {  // no memory, or no descriptor, is left
            tell({{}, {}, false});
        }
    });
}

}  // namespace posy::http
