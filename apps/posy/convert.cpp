// posy convert: filters of other programs, from one of their formats to another.
#include <filesystem>

#include "foreign.hpp"
#include "posy/base/names.hpp"
#include "tool.hpp"

namespace posy::tool {

void add_convert(command_line& app) {
    struct state {
        std::string file, to, output = "-";
        foreign_options from;
    };
    const auto s = std::make_shared<state>();
    command_line command = add_command(
        app, "convert", "Write a filter of another program in another of its formats",
        "  posy convert counting.bin --to hadoop -o plain.bin      the filter without its counters\n"
        "  posy convert indicators.bloom.gz --to dcso -o -         without gzip\n"
        "  posy convert t.parquet --column name --to parquet       the filter of a column with one row "
        "group\n"
        "Bits are kept, never made anew: where a format has other hashes, the error says so, and the filter\n"
        "must be built from its keys ('posy build --format').");
    command.add_option("FILE", s->file, "The filter; - for standard input").required();
    s->from.add_to(command,
                   "The format of the filter, where its bytes do not tell (bip158, leveldb, a pipe)");
    s->from.add_column_to(command);
    command.add_option("--to FORMAT", s->to, "The format to write").required().one_of(names_of<dialect>());
    command.add_option("-o,--output FILE", s->output, "File to write; - for standard output").shows_default();
    command.runs([s] {
        std::error_code not_a_file;
        if (std::filesystem::file_size(s->file, not_a_file) == 0 && !not_a_file)
            throw failure(display_name(s->file) + ": it is empty; a filter of another program was expected");
        const auto filter = load_foreign(s->file, s->from);
        if (!filter && s->file == "-")
            throw failure("standard input: name the format of the filter with --format");
        if (!filter)
            throw failure(
                display_name(s->file) +
                ": not a filter of another program that is known by its bytes; a filter of Posy's has "
                "other hashes than they have");
        save_foreign(s->output, take(filter->to_bytes(*named<dialect>(s->to)), display_name(s->file)));
    });
}

}  // namespace posy::tool
