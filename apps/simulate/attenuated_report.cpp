// What the simulation of attenuated filters found, beside theory.
#include <cmath>

#include "attenuated.hpp"

namespace posy::simulate::attenuated {

std::vector<figure> attenuated_run::figures(const outcome& near, const outcome& far,
                                            const outcome& absent) const {
    constexpr double certain = 1;
    const double misled = theory::attenuated_false_forwards(rates_, degree);
    // Of filters at rest: with churn, arrays of nodes that have just come back are not full yet.
    const auto astray = options_.churn == 0 ? std::optional(misled) : std::nullopt;
    const auto wrong = [&](const outcome& o) {  // hops of a request that could not succeed
        return std::sqrt(o.by_filter / static_cast<double>(std::max<std::uint64_t>(o.asked, 1)));
    };
    const auto asked = static_cast<double>(near.asked + far.asked);
    const double is_near = static_cast<double>(near.asked) / asked;
    std::vector<figure> all{
        {"lookups of existing objects", asked},
        {"a copy within 3 hops", is_near, near_expected_.mean(), std::sqrt(is_near * (1 - is_near) / asked)},
        {"found, where a copy is near", near.success.mean(), certain, near.success.error()},
        {"  by the filters alone", 1 - near.gave_up, 1 - stray_expected_.mean(),
         std::sqrt(near.gave_up / static_cast<double>(std::max<std::uint64_t>(near.asked, 1)))},
        {"  hops", near.hops.mean(), {}, near.hops.error()},
        {"  stretch in hops, against the nearest copy", near.stretch.mean(), {}, near.stretch.error()},
        {"  bytes per lookup", near.bytes, {}, {}, "bytes"},
        {"found, where none is near", far.success.mean(), certain - denied_expected(), far.success.error()},
        {"  false forwards per lookup", far.by_filter, astray, wrong(far)},
        {"  hops, most of them to the home", far.hops.mean(),
         misled + theory::ring_hops(static_cast<double>(nodes_)) + 1, far.hops.error()},
        {"  stretch in hops, against the nearest copy", far.stretch.mean(), {}, far.stretch.error()},
        {"  bytes per lookup", far.bytes, {}, {}, "bytes"},
        {"absent objects answered as absent", absent.success.mean(), certain, absent.success.error()},
        {"  false forwards per lookup", absent.by_filter, astray, wrong(absent)},
    };
    if (change_bytes_.count() > 0) add_changes(all);
    return all;
}

void attenuated_run::add_changes(std::vector<figure>& all) const {
    const auto m = static_cast<double>(settings().terms.geometry.bits);
    all.push_back({"bytes per change, on all links", change_bytes_.mean(),
                   theory::attenuated_change_bytes(sizes_, degree, m, hashes, header, reply),
                   change_bytes_.error(), "bytes"});
    all.push_back(
        {"bytes per change, by whole arrays", whole_bytes_.mean(), {}, whole_bytes_.error(), "bytes"});
}

plot attenuated_run::found_by_copies() const {
    plot p{"A copy near by",
           "copies of the object",
           "share of the lookups",
           {{"measured", {}}, {"predicted", {}}}};
    for (const auto& [log, share] : near_by_copies_) {
        if (share.count() < 100) continue;
        const double copies = 1.5 * std::exp2(static_cast<double>(log) - 1);
        p.curves[0].points.emplace_back(copies, share.mean());
        p.curves[1].points.emplace_back(
            copies, theory::near_copy_probability(around(), static_cast<double>(nodes_), copies));
    }
    return p;
}

// A request to the home passes one node less than it makes hops, and is lost at one that is down. A pointer
// is lost while home and next node have both failed since the holder told them. That is then so for all
// objects of this home: a few homes make up the share, and its error is theirs.
void attenuated_run::add_churn(report& r, const outcome& near, const outcome& far) const {
    const double passed =
        theory::attenuated_false_forwards(rates_, degree) + theory::ring_hops(static_cast<double>(nodes_));
    const double open = theory::open_way_probability(failure_rate(), outages::down_time, passed);
    r.figures.push_back({"failures of nodes", static_cast<double>(outages_.failures())});
    r.figures.push_back(
        {"found at the first attempt, a copy near", near.first.mean(), {}, near.first.error()});
    r.figures.push_back({"found at the first attempt, none near", far.first.mean(), open, far.first.error()});
    const double by_homes =
        far.clumping *
        theory::both_failed_variance(failure_rate(), static_cast<double>(settings().republish), far.periods);
    r.figures.push_back({"said to be absent, none near", far.denied.mean(), denied_expected(),
                         std::hypot(far.denied.error(), std::sqrt(by_homes))});
}

}  // namespace posy::simulate::attenuated
