#include "posy/http_cache/store.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "posy/http_cache/partial.hpp"
#include "tiers.hpp"

namespace posy::http_cache {

namespace {

std::uint64_t for_index(const store_options& options) { return options.disk ? options.memory.bytes / 4 : 0; }
std::uint64_t for_arrivals(const store_options& options) { return options.memory.bytes / 8; }

}  // namespace

store::tiers::tiers(const store_options& options, observer* watching)
    : index_bytes(for_index(options)),
      on_the_way(for_arrivals(options)),
      bodies(std::make_shared<http_cache::room>(options.memory.bytes - index_bytes)),
      both(watching),
      in_memory(options.disk ? &of_memory : watching),
      memory({bodies->bytes() - on_the_way, options.memory.shards, options.memory.largest}, &in_memory) {}

std::uint64_t largest_possible(const store_options& options) {
    const auto in_memory =
        (options.memory.bytes - for_index(options) - for_arrivals(options)) / largest_object_divisor;
    return options.disk ? std::max(in_memory, for_arrivals(options)) : in_memory;
}

std::uint64_t most_files(const store_options& options) {
    constexpr std::uint64_t usual_url = 64;
    return for_index(options) / (index_overhead + 3 * usual_url);
}

store::store(std::unique_ptr<tiers> made) : tiers_(std::move(made)) {}

store::~store() {
    for (auto& s : tiers_->stripes) {
        while (!s.notes.empty()) (void)settle(std::string(s.notes.begin()->first));
    }
}

result<std::unique_ptr<store>> store::open(const store_options& options, observer* watching) {
    auto made = std::make_unique<tiers>(options, watching);
    if (options.disk) {
        auto how = *options.disk;
        how.index_bytes = made->index_bytes;
        how.largest = made->on_the_way;
        auto disk = disk_store::open(how, &made->of_disk);
        if (!disk) return disk.error();
        made->disk = std::move(*disk);
    }
    return std::unique_ptr<store>(new store(std::move(made)));
}

bool store::has_disk() const { return tiers_->disk != nullptr; }
const std::shared_ptr<room>& store::room() const { return tiers_->bodies; }

std::uint64_t store::largest() const {
    return std::max(tiers_->memory.largest(), tiers_->disk ? tiers_->disk->largest() : 0);
}

std::uint64_t store::largest_in_memory() const { return tiers_->memory.largest(); }

stored store::find_in_memory(std::string_view url, const request_head& request) {
    return tiers_->memory.find(url, request);
}

stored store::find(std::string_view url, const request_head& request) {
    auto& t = *tiers_;
    if (auto found = t.memory.find(url, request); found || !t.disk) return found;
    auto& s = t.stripe_of(url);
    const std::lock_guard files(s.files);
    // As often as the URL changes while its file is read, within reason.
    for (int tries = 3; tries > 0; --tries) {
        if (auto found = t.noted(s, url, request)) return found;
        (void)t.settle(s, url);  // failures are counted there
        auto found = t.disk->find(url, request, t.bodies);
        const std::lock_guard quick(s.quick);
        if (s.notes.contains(std::string(url))) continue;
        if (found) t.memory.put(found);
        return found;
    }
    return nullptr;
}

// What waits to be written and answers the request, back in memory.
stored store::tiers::noted(stripe& s, std::string_view url, const request_head& request) {
    const std::lock_guard quick(s.quick);
    if (auto found = memory.find(url, request)) return found;
    const auto about = s.notes.find(url);
    if (about == s.notes.end()) return nullptr;
    stored newest;
    for (const auto& [of, object] : about->second.variants) {
        if (object && of.variant.matches(request.fields) && (!newest || object->received >= newest->received))
            newest = object;
    }
    if (newest) memory.put(newest);
    return newest;
}

bool store::has(std::string_view url) const {
    return tiers_->disk ? tiers_->both.has(url) : tiers_->memory.has(url);
}

// After a change of its note.
void store::tiers::count_note(stripe& s, std::string_view url) {
    const auto about = s.notes.find(url);
    const bool waits =
        about != s.notes.end() &&
        std::ranges::any_of(about->second.variants, [](const auto& p) { return p.object != nullptr; });
    waits ? both.entered(url, tally::noted) : both.left(url, tally::noted);
}

store::tiers::arrival store::tiers::judge(stripe& s, const stored& object) const {
    const auto of = hash::secret_hasher()(object->url).low;
    const auto name = name_of(*object, hash::secret_hasher()).low;
    if (s.latest.erased_since(of, object->asked)) return arrival::outdated;
    auto held = memory.same(*object);
    if (const auto parts = held ? nullptr : memory.same(parts_label(*object));
        parts && !same_version(*parts, *object))
        held = parts;
    if (const auto noted = s.notes.find(object->url); !held && noted != s.notes.end()) {
        if (const auto* same = noted->second.same(*object)) held = same->object;
    }
    if (!held && s.latest.put_since(name, object->asked)) return arrival::outdated;
    const auto order = held ? by_news(*object, *held) : std::partial_ordering::greater;
    if (order == std::partial_ordering::less) return arrival::outdated;
    s.latest.put(name, object->answered);
    return order == std::partial_ordering::unordered ? arrival::doubtful : arrival::newest;
}

void store::tiers::unplan(note::planned& old) {
    if (old.object) waiting -= old.object->size;
    old.object = nullptr;
}

// Null: its file is to be removed.
void store::tiers::plan(stripe& s, const label& of, stored object) {
    auto& noted = s.notes[of.url];
    ++noted.version;
    if (object) waiting += object->size;
    if (auto* same = noted.same(of)) {
        unplan(*same);
        same->object = std::move(object);
    } else {
        noted.variants.push_back({of, std::move(object)});
    }
    count_note(s, of.url);
}

store::change store::put_soon(const stored& object) {
    if (object->parts) return put_parts(object);
    auto& t = *tiers_;
    auto& s = t.stripe_of(object->url);
    const std::lock_guard quick(s.quick);
    const auto came = t.judge(s, object);
    if (came == tiers::arrival::outdated) return {};
    const bool certain = came == tiers::arrival::newest;
    if (const auto parts = t.memory.same(parts_label(*object))) t.memory.drop(parts);
    if (const auto held = certain ? nullptr : t.memory.same(*object)) t.memory.drop(held);
    const bool in_memory = certain && t.memory.put(object);
    if (!t.disk) return {in_memory, false, in_memory};
    const bool written = certain && object->body->size() <= t.disk->largest() && t.waiting <= t.on_the_way;
    const bool obsolete = s.notes.contains(object->url) || t.both.has(object->url, tally::disk);
    if (written || obsolete) t.plan(s, *object, written ? object : nullptr);
    return {in_memory || written, written || obsolete, in_memory};
}

store::change store::erase_soon(std::string_view url, moment when) {
    auto& t = *tiers_;
    auto& s = t.stripe_of(url);
    const std::lock_guard quick(s.quick);
    const auto of = hash::secret_hasher()(url).low;
    const auto before = s.latest.last_erased(of);
    s.latest.erased(of, when);
    bool found = t.memory.erase(url);
    found = t.memory.erase(parts_key(url)) || found;
    if (!t.disk) return {found, false, false, before};
    const auto noted = s.notes.find(url);
    const bool on_disk = t.both.has(url, tally::disk);
    if (noted == s.notes.end() && !on_disk) return {found, false, false, before};
    auto& to_do = noted == s.notes.end() ? s.notes[std::string(url)] : noted->second;
    for (auto& old : to_do.variants) {
        found = found || old.object;
        t.unplan(old);
    }
    to_do.variants.clear();
    to_do.erase = true;
    ++to_do.version;
    t.count_note(s, url);
    return {found || on_disk, true, false, before};
}

void store::tiers::write(const note& to_do, std::string_view url, result<void>& outcome) {
    if (to_do.erase) disk->erase(url);
    for (const auto& [of, object] : to_do.variants) {
        if (!object) {
            disk->erase_variant(of);
        } else if (disk->answered(of) > object->answered) {  // it came too late, and nobody remembered
            memory.drop(object);
        } else if (const auto written = disk->put(*object); !written) {
            outcome = written.error();
        }
    }
}

// A change that comes during the writing changes the note, and all of it is done again.
result<void> store::tiers::settle(stripe& s, std::string_view url) {
    for (result<void> outcome;;) {
        std::unique_lock quick(s.quick);
        auto found = s.notes.find(url);
        if (found == s.notes.end()) return outcome;
        const note to_do = found->second;
        quick.unlock();
        write(to_do, url, outcome);
        quick.lock();
        found = s.notes.find(url);  // only here are notes removed, with files held
        if (found->second.version != to_do.version) continue;
        for (auto& done : found->second.variants) unplan(done);
        s.notes.erase(found);
        count_note(s, url);
    }
}

result<void> store::settle(std::string_view url) {
    if (!tiers_->disk) return {};
    auto& s = tiers_->stripe_of(url);
    const std::lock_guard files(s.files);
    return tiers_->settle(s, url);
}

bool store::put(const stored& object) {
    const auto made = put_soon(object);
    if (!made.unsettled) return made.made;
    const auto written = settle(object->url);
    return made.made && (written || tiers_->memory.same(*object) == object);
}

bool store::erase(std::string_view url) {
    const auto made = erase_soon(url);
    if (made.unsettled) (void)settle(url);  // removing a file does not fail
    return made.made;
}

void store::for_each_url(const std::function<void(std::string_view)>& visit) const {
    if (tiers_->disk) return tiers_->both.for_each_url(visit);
    tiers_->memory.for_each_url([&](std::string_view key) {
        if (!is_parts_key(key)) visit(key);
    });
}

store_counts store::memory_counts() const { return tiers_->memory.counts(); }

std::uint64_t store::index_limit() const { return tiers_->index_bytes; }

std::optional<store_counts> store::disk_counts() const {
    if (!tiers_->disk) return std::nullopt;
    return tiers_->disk->counts();
}

}  // namespace posy::http_cache
