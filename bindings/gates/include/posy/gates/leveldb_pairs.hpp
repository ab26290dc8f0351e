// Keys with values in a folder of LevelDB, for differential files (posy/store/differential.hpp).
//
// With `sync` a write survives a loss of power, otherwise a kill of the process only. Every read verifies
// checksums. Thread safety: none.
#pragma once

#include <filesystem>
#include <memory>

#include "posy/store/pairs.hpp"

namespace leveldb {
class DB;
}

namespace posy::gates {

class leveldb_pairs : public store::pairs {
  public:
    // Makes the folder if there is none.
    static result<std::unique_ptr<leveldb_pairs>> open(const std::filesystem::path&, bool sync = true);
    ~leveldb_pairs() override;

    result<std::optional<std::string>> get(std::string_view key) const override;
    result<void> write(std::span<const store::change>) override;
    result<void> each(std::string_view first, const visitor& visit) const override;

  private:
    leveldb_pairs(std::unique_ptr<leveldb::DB>, bool sync);

    std::unique_ptr<leveldb::DB> database_;
    bool sync_;
};

}  // namespace posy::gates
