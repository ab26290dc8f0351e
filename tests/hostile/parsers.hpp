// Every parser that bytes from elsewhere can reach, each with a number, and how to feed it.
#pragma once

#include <filesystem>
#include <string>

#include "seeds.hpp"

namespace posy::hostile {

// What inputs are made of; made once.
struct material {
    std::vector<byte_string> small, at_the_limits;
    std::vector<conversation> talks;
    byte_string squid;

    static material make(const std::filesystem::path& testdata);
};

struct input {
    std::size_t parser = 0;
    byte_string bytes;
    // Of a conversation: which, and how many of its messages come before this one.
    std::size_t talk = 0, honest = 0;
    std::vector<byte_string> more;  // what is said next, whatever the victim answers

    std::size_t received() const;
};

std::size_t parser_count();
std::string parser_name(std::size_t);

// The first are those at the limits, as they are.
input draw(const material&, dice&, std::uint64_t number);
// Reads it with the default limits and uses what was read. Was it accepted?
bool consume(const material&, const input&);

}  // namespace posy::hostile
