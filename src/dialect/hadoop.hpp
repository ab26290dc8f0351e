// What the four filters of Hadoop share.
#pragma once

#include "dialects.hpp"

namespace posy::foreign {

constexpr std::uint32_t jenkins = 0, murmur = 1;

struct hadoop_head {
    std::size_t size;  // in the file
    placing how;
};

result<hadoop_head> read_hadoop_head(byte_view);
// Of bytes that begin as this version of Hadoop writes them: the oldest one's head is any two small numbers.
std::optional<hadoop_head> sure_hadoop_head(byte_view);
std::vector<std::byte> hadoop_head_of(const placing&);
result<placing> hadoop_size(const wanted&);
// That exactly so many bytes are left.
result<void> check_left(byte_view left, std::uint64_t wanted, std::uint64_t at);

}  // namespace posy::foreign
