// What the store of keys knows of the files of LevelDB.
#pragma once

#include <leveldb/env.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace posy::node {

// Names in the folder that are files of a database: CURRENT, MANIFEST-…, logs and tables.
std::vector<std::string> store_files(const std::string& folder);

// Opening a database rewrites it: what the log has becomes a table, and the log goes. This one keeps every
// file until it is known that nothing is missing.
class patient_env : public leveldb::EnvWrapper {
  public:
    patient_env() : EnvWrapper(leveldb::Env::Default()) {}

    leveldb::Status RemoveFile(const std::string& name) override;
    void remove_from_now_on();

  private:
    std::mutex mutex_;  // LevelDB also removes files on its own thread
    bool waiting_ = true;
    std::vector<std::string> later_;
};

// A log, with the records alone that are as they were written. A record that is damaged is lost, those behind
// it are not, as far as they can be found; LevelDB's own repair believes what is damaged, or drops all that
// follows.
std::string intact_records(std::string_view log);

}  // namespace posy::node
