#include "posy/base/folder.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "posy/base/file.hpp"

namespace posy::base {

namespace fs = std::filesystem;

result<void> check_folder(const fs::path& wanted) {
    std::error_code wrong;
    auto place = fs::absolute(wanted, wrong);
    while (!fs::exists(place, wrong) && place.has_relative_path()) place = place.parent_path();
    const auto name = wanted.string() + ": " + place.string();
    if (!fs::is_directory(place, wrong)) return error::input_output(name + " is not a folder");
    if (::access(place.c_str(), W_OK | X_OK) != 0) return error::input_output(name + " cannot be written");
    if (fs::exists(wanted, wrong)) return {};
    auto trial = (place / ".posy-check-XXXXXX").string();
    if (!::mkdtemp(trial.data())) return system_error(name + " takes no new folder");
    ::rmdir(trial.c_str());
    return {};
}

}  // namespace posy::base
