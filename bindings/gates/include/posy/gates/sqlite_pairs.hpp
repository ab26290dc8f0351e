// Keys with values in a file of SQLite, for differential files (posy/store/differential.hpp).
//
// One table, in the order of the keys' bytes, and the log of WAL mode. With `sync` a write survives a loss of
// power, otherwise a kill of the process only. Thread safety: none.
#pragma once

#include <filesystem>
#include <memory>

#include "posy/store/pairs.hpp"

namespace posy::gates {

class sqlite_pairs : public store::pairs {
  public:
    // Makes the file if there is none.
    static result<std::unique_ptr<sqlite_pairs>> open(const std::filesystem::path&, bool sync = true);
    ~sqlite_pairs() override;

    result<std::optional<std::string>> get(std::string_view key) const override;
    result<void> write(std::span<const store::change>) override;
    result<void> each(std::string_view first, const visitor& visit) const override;

  private:
    struct connection;
    explicit sqlite_pairs(std::unique_ptr<connection>);
    result<void> make_changes(std::span<const store::change>);

    std::unique_ptr<connection> to_;
};

}  // namespace posy::gates
