#include "gnuplot.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "posy/base/file.hpp"
#include "tool.hpp"

namespace posy::tool {

void check_gnuplot() {
    if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) {
        throw failure("gnuplot, which draws the pictures, is missing; install the package gnuplot-nox");
    }
}

void draw(const std::string& script, const std::string& path) {
    check_gnuplot();
    const std::string name = display_name(path, true);
    auto target = take(base::atomic_file::create(path == "-" ? "/dev/stdout" : path), name);
    // gnuplot writes to its standard output, which is the new file.
    const int saved = dup(STDOUT_FILENO);
    dup2(target.get(), STDOUT_FILENO);
    std::signal(SIGPIPE, SIG_IGN);  // if it ends too soon, that is an error with a text
    std::FILE* gnuplot = popen("gnuplot", "w");
    dup2(saved, STDOUT_FILENO);
    close(saved);
    if (!gnuplot) throw failure("cannot start gnuplot");
    std::fwrite(script.data(), 1, script.size(), gnuplot);
    if (pclose(gnuplot) != 0) throw failure("gnuplot could not draw " + name);
    take(target.commit(), name);
}

}  // namespace posy::tool
