// How long is an answer fresh?
#include <cstdio>
#include <posy/http_cache/cache_control.hpp>

int main() {
    posy::http_cache::fields fields;
    fields.add("Cache-Control", "max-age=120, public");
    const auto directives = posy::http_cache::response_directives_of(fields);
    std::printf("fresh for %lld seconds\n", static_cast<long long>(directives.max_age.value_or(0)));
    return directives.max_age == 120 ? 0 : 1;
}
