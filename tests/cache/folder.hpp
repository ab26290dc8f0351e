// A directory that is there as long as the test is.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace posy::cache {

class folder {
  public:
    folder() {
        std::string name = (std::filesystem::temp_directory_path() / "posy-cache-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { std::filesystem::remove_all(path_); }

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace posy::cache
