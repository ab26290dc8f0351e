#include "password_checks.hpp"

#include <openssl/crypto.h>

#include <algorithm>

#include "http/crowd.hpp"
#include "http/elsewhere.hpp"

namespace posy::proxy {

namespace {

constexpr std::size_t most_addresses = 65'536;  // that are remembered for their guesses

}  // namespace

// Of a check under way; also when its coroutine is gone before the end.
class password_checks::place {
  public:
    place(std::shared_ptr<password_checks> all, http::address who, const http::timekeeper& time)
        : all_(std::move(all)), who_(std::move(who)), time_(time) {}
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() { all_->end(who_, wrong, time_.now()); }
    bool wrong = false;

  private:
    std::shared_ptr<password_checks> all_;
    http::address who_;
    const http::timekeeper& time_;
};

// Nobody waits for those that have not begun.
password_checks::~password_checks() {
    pool_.stop();
    pool_.join();
}

bool password_checks::remembers(const users& of, const std::string& name, const digest& shown,
                                http::clock::time_point now) {
    const std::lock_guard lock(mutex_);
    const auto found = proofs_.find(name);
    return found != proofs_.end() && now < found->second.until && found->second.hash == of.hash_of(name) &&
           CRYPTO_memcmp(&found->second.of, &shown, sizeof shown) == 0;
}

void password_checks::remember(const users& of, const std::string& name, const digest& shown,
                               http::clock::time_point now) {
    const std::lock_guard lock(mutex_);
    proofs_.insert_or_assign(name, proof{shown, of.hash_of(name), now + memory});
}

std::optional<password_checks::finding> password_checks::begin(const http::address& who,
                                                               http::clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (waiting_ >= most_waiting) return finding::too_many;
    if (asking_.size() >= most_addresses)
        std::erase_if(asking_, [](const auto& each) { return each.second.under_way == 0; });
    auto& [under_way, guesses, at] = asking_[who];
    const auto passed = std::chrono::duration<double>(now - at).count();
    guesses = std::min<double>(free_guesses, guesses + passed * guesses_per_second);
    at = now;
    // Each of those under way may be wrong.
    if (under_way >= most_of_an_address || guesses - static_cast<double>(under_way) < 1)
        return finding::too_many_here;
    ++under_way;
    ++waiting_;
    return std::nullopt;
}

void password_checks::end(const http::address& who, bool was_wrong, http::clock::time_point now) {
    const std::lock_guard lock(mutex_);
    --waiting_;
    const auto found = asking_.find(who);
    auto& [under_way, guesses, at] = found->second;
    --under_way;
    if (was_wrong) guesses -= 1;
    at = std::max(at, now);
    if (under_way == 0 && guesses >= free_guesses) asking_.erase(found);
}

http::task<password_checks::finding> password_checks::check(http::request& r, std::shared_ptr<const users> of,
                                                            std::string name, std::string password) {
    const auto& time = r.here.time;
    const auto shown = hash::secret_hasher()(name + '\0' + password);
    if (remembers(*of, name, shown, time.now())) co_return finding::right;
    const auto who = http::crowd::party_of(r.connection.remote().address());
    if (const auto full = begin(who, time.now())) {
        ++refused_;
        co_return *full;
    }
    place mine(shared_from_this(), who, time);
    // Whoever waited behind another check of the same password has its result.
    auto work = [this, of, name, password, shown, now = time.now()] {
        if (remembers(*of, name, shown, now)) return true;
        ++checked_;
        const bool right = of->has_password(name, password);
        if (right) remember(*of, name, shown, now);
        return right;
    };
    r.connection.expires_after(std::chrono::seconds(30));
    const bool right = co_await http::elsewhere(r.here.context, pool_, std::move(work));
    mine.wrong = !right;
    if (!right) ++wrong_;
    co_return right ? finding::right : finding::wrong;
}

}  // namespace posy::proxy
