#include "posy/typed/files.hpp"

#include "posy/message.hpp"

namespace posy::typed {

template <class Body>
result<Body> load_body(const std::filesystem::path& path, const read_limits& limits) {
    auto loaded = load<Body>(path, limits);
    if (!loaded) return loaded.error().behind(path.string());
    return loaded;
}

template <class Body>
void save_body(const std::filesystem::path& path, const Body& body) {
    if (auto saved = save(path, body); !saved) throw exception(saved.error().behind(path.string()));
}

template result<bloom_filter> load_body(const std::filesystem::path&, const read_limits&);
template result<counting_filter> load_body(const std::filesystem::path&, const read_limits&);
template result<growing_filter> load_body(const std::filesystem::path&, const read_limits&);
template result<window_filter> load_body(const std::filesystem::path&, const read_limits&);
template result<sealed_filter> load_body(const std::filesystem::path&, const read_limits&);
template result<bloomier_map> load_body(const std::filesystem::path&, const read_limits&);
template result<count_min> load_body(const std::filesystem::path&, const read_limits&);

template void save_body(const std::filesystem::path&, const bloom_filter&);
template void save_body(const std::filesystem::path&, const counting_filter&);
template void save_body(const std::filesystem::path&, const growing_filter&);
template void save_body(const std::filesystem::path&, const window_filter&);
template void save_body(const std::filesystem::path&, const sealed_filter&);
template void save_body(const std::filesystem::path&, const bloomier_map&);
template void save_body(const std::filesystem::path&, const count_min&);

}  // namespace posy::typed
