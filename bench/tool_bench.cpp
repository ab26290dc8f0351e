// The tool end to end, on a million URL lines in the page cache: process, parsing, hashing, file.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support.hpp"

namespace posy::bench {
namespace {

constexpr std::size_t lines = 1'000'000;

// A folder with keys and their filter, made at the first use and gone at the end.
class workshop {
  public:
    workshop() {
        std::string name = (std::filesystem::temp_directory_path() / "posy-bench-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        std::ofstream urls(folder_ / "urls");
        for (const std::uint64_t key : random_keys(lines))
            urls << "http://www.example.org/" << key << ".html\n";
        urls.close();
        posy("build urls -o filter.posy");
    }
    ~workshop() { std::filesystem::remove_all(folder_); }
    bool posy(const std::string& arguments) const {
        const std::string command = "cd " + folder_.string() + " && " POSY_TOOL " " + arguments + " > out";
        return std::system(command.c_str()) == 0;
    }

  private:
    std::filesystem::path folder_;
};

void tool(benchmark::State& state, const char* arguments) {
    static const workshop here;
    for (auto _ : state) {
        if (!here.posy(arguments)) state.SkipWithError("failed");
    }
    per_item(state, lines);
}

BENCHMARK_CAPTURE(tool, build, "build urls -o built.posy")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tool, build_from_a_pipe, "build -o built.posy < urls")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tool, query, "query filter.posy urls")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tool, info, "info filter.posy")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tool, union, "union filter.posy filter.posy -o both.posy")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tool, pack, "pack filter.posy -o packed.posy")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace posy::bench
