#include "posy/dictionary/markup.hpp"

#include <array>

#include "dictionary/markup_mask.hpp"

namespace posy::dictionary {

markup markup_of(std::string_view name) {
    for (const std::string_view packed : {".gz", ".zst"}) {
        if (name.ends_with(packed)) name.remove_suffix(packed.size());
    }
    const std::size_t dot = name.find_last_of("./");
    if (dot == std::string_view::npos || name[dot] == '/') return markup::none;
    const std::string end = lower(name.substr(dot + 1));
    const auto one_of = [&](auto... ends) { return ((end == ends) || ...); };
    if (one_of("html", "htm", "xhtml", "xml", "svg", "docbook", "dbk")) return markup::html;
    if (one_of("tex", "latex", "ltx", "sty", "cls")) return markup::latex;
    if (one_of("md", "markdown", "mkd")) return markup::markdown;
    if (one_of("man", "mdoc", "ms", "me", "mm", "roff", "troff", "tr")) return markup::troff;
    const bool section = !end.empty() && end[0] >= '1' && end[0] <= '9' && end.size() <= 4;  // ls.1, SSL.3ssl
    return section ? markup::troff : markup::none;
}

std::string without_markup(std::string text, markup form) {
    markup_mask mask(std::move(text));
    switch (form) {
        case markup::none:
            break;
        case markup::html:
            mask_html(mask);
            break;
        case markup::latex:
            mask_latex(mask);
            break;
        case markup::markdown:
            mask_markdown(mask);
            break;
        case markup::troff:
            mask_troff(mask);
            break;
    }
    return std::move(mask).take();
}

}  // namespace posy::dictionary
