// The keys of one side of a reconciliation: their texts and, under a hash, their digests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "keys.hpp"
#include "posy/reconcile/session.hpp"

namespace posy::tool {

class key_table {
  public:
    // Reads all keys.
    key_table(const key_options&, reconcile::digest_width);

    // Throws failure if two different keys have one digest: one of them would not be found.
    void hash_by(const hasher&);

    // Of the last hash_by().
    const reconcile::digest_set& set() const { return set_; }
    std::string text_of(const digest&) const;
    reconcile::key_owner owner() const;

  private:
    struct entry {
        digest element;
        std::size_t offset, size;
    };
    std::string_view text(const entry& e) const { return std::string_view(texts_).substr(e.offset, e.size); }
    digest element(std::string_view key) const;
    void refuse_collision(const entry&, const entry&) const;

    key_options keys_;
    reconcile::digest_width width_;
    hasher hash_;
    std::string texts_;
    std::vector<entry> entries_;
    reconcile::digest_set set_{hash_, width_};
};

}  // namespace posy::tool
