#include "doorkeeper.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace posy::proxy {

namespace {

constexpr std::size_t most_refusals = 4096;  // that are remembered

}  // namespace

rule_book::rule_book(rule_list rules) : rules_(std::move(rules)), counts_(rules_.size() + 1) {
    for (std::size_t place = 1; place <= rules_.size(); ++place)
        usage_.push_back(std::make_unique<rule_usage>(rules_.at(place).limits));
}

std::string rule_book::refusal(std::size_t place, const http::address& where,
                               const http::networks& everyones) const {
    auto open = everyones;
    const auto& named = rules_.at(place).to;
    open.insert(open.end(), named.begin(), named.end());
    return http::destinations(std::move(open)).refuses(where);
}

std::string rule_book::recent_refusal(std::size_t place, const http::address& where,
                                      const http::networks& everyones, http::clock::time_point now) {
    const std::pair key(place, where);
    {
        const std::lock_guard lock(mutex_);
        const auto found = refusals_.find(key);
        if (found != refusals_.end() && now < found->second.until) return found->second.why;
    }
    auto why = refusal(place, where, everyones);
    const std::lock_guard lock(mutex_);
    if (refusals_.size() >= most_refusals) refusals_.clear();
    refusals_.insert_or_assign(key, remembered{why, now + std::chrono::seconds(1)});
    return why;
}

doorkeeper::doorkeeper(rule_list rules, user_files files, const doorkeeper* before)
    : files_(std::move(files)), users_(users::read(files_)) {
    if (before && before->book_ && before->book_->rules().texts() == rules.texts()) {
        book_ = before->book_;
    } else if (!rules.empty()) {
        book_ = std::make_shared<rule_book>(std::move(rules));
    }
}

std::vector<std::string> doorkeeper::doubts() const {
    std::vector<std::string> all;
    for (std::size_t place = 1; book_ && place <= book_->rules().size(); ++place) {
        const auto& rule = book_->rules().at(place);
        for (const auto& name : rule.users)
            if (!users_->find(name))
                all.push_back(fmt::format("rule {}: there is no user '{}'", place, name));
        for (const auto& name : rule.groups)
            if (!users_->has_group(name))
                all.push_back(fmt::format("rule {}: there is no group '{}'", place, name));
    }
    return all;
}

std::vector<std::string> doorkeeper::challenges() const {
    std::vector<std::string> all;
    if (!files_.passwords.empty()) all.emplace_back("Basic realm=\"posy\", charset=\"UTF-8\"");
    if (!files_.tokens.empty()) all.emplace_back("Bearer realm=\"posy\"");
    return all;
}

namespace {

std::uint64_t bytes_moved(const http::transport& t) { return t.bytes_read() + t.bytes_written(); }

}  // namespace

admission::admission(std::shared_ptr<rule_book> book, std::size_t place, std::string client, http::request& r)
    : book_(std::move(book)),
      place_(place),
      client_(std::move(client)),
      request_(r),
      before_(bytes_moved(r.connection)) {}

admission::~admission() {
    auto& time = request_.here.time;
    book_->usage(place_).leave(client_, bytes_moved(request_.connection) - before_,
                               {time.now(), time.seconds()});
}

}  // namespace posy::proxy
