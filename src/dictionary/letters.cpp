#include "posy/dictionary/letters.hpp"

#include <algorithm>
#include <array>

#include "posy/dictionary/edits.hpp"

namespace posy::dictionary {
namespace {

struct block {
    char32_t first, last;
};

// Blocks of Unicode above ASCII without letters, and of scripts that do not separate words.
constexpr std::array no_letters = {
    block{0x80, 0xa9},        // controls, punctuation and symbols of Latin-1
    block{0xab, 0xb4},        //
    block{0xb6, 0xb9},        //
    block{0xbb, 0xbf},        //
    block{0xd7, 0xd7},        // ×
    block{0xf7, 0xf7},        // ÷
    block{0x37e, 0x37e},      // the Greek question mark
    block{0x387, 0x387},      // the Greek semicolon
    block{0xe00, 0xeff},      // Thai, Lao
    block{0x1000, 0x109f},    // Myanmar
    block{0x1780, 0x17ff},    // Khmer
    block{0x2000, 0x206f},    // punctuation
    block{0x20a0, 0x20cf},    // currencies
    block{0x2100, 0x2bff},    // letter-like symbols, numbers, arrows, mathematics, boxes, dingbats
    block{0x2e00, 0xa4cf},    // punctuation, East Asia
    block{0xac00, 0xfaff},    // Hangul, surrogates, private use, East Asia
    block{0xfe00, 0xfe6f},    // variants and forms of punctuation
    block{0xff00, 0xffff},    // full and half width
    block{0x1f000, 0x1faff},  // pictures
    block{0x20000, 0x3ffff},  // East Asia
    block{0xe0000, 0xffffffff},
};

// Capitals and the distance to their small letters. If it is 1, capital and small letter alternate.
struct cased {
    char32_t first, last;
    char32_t distance;
};
constexpr std::array cases = {
    cased{'A', 'Z', 32},     cased{0xc0, 0xd6, 32},    cased{0xd8, 0xde, 32},    cased{0x100, 0x12e, 1},
    cased{0x132, 0x136, 1},  cased{0x139, 0x147, 1},   cased{0x14a, 0x176, 1},   cased{0x179, 0x17d, 1},
    cased{0x1cd, 0x1db, 1},  cased{0x1de, 0x1ee, 1},   cased{0x1f8, 0x21e, 1},   cased{0x222, 0x232, 1},
    cased{0x386, 0x386, 38}, cased{0x388, 0x38a, 37},  cased{0x38c, 0x38c, 64},  cased{0x38e, 0x38f, 63},
    cased{0x391, 0x3a1, 32}, cased{0x3a3, 0x3ab, 32},  cased{0x400, 0x40f, 80},  cased{0x410, 0x42f, 32},
    cased{0x460, 0x480, 1},  cased{0x48a, 0x4be, 1},   cased{0x4c1, 0x4cd, 1},   cased{0x4d0, 0x52e, 1},
    cased{0x531, 0x556, 48}, cased{0x1e00, 0x1e94, 1}, cased{0x1ea0, 0x1efe, 1},
};

constexpr std::array accents = {
    accent{"grave", '`', 0x300, U"AÀEÈIÌNǸOÒUÙaàeèiìnǹoòuù"},
    accent{"acute", '\'', 0x301, U"AÁCĆEÉIÍLĹNŃOÓRŔSŚUÚYÝZŹaácćeéiílĺnńoórŕsśuúyýzź"},
    accent{"circ", '^', 0x302, U"AÂCĈEÊGĜHĤIÎJĴOÔSŜUÛWŴYŶaâcĉeêgĝhĥiîjĵoôsŝuûwŵyŷ"},
    accent{"tilde", '~', 0x303, U"AÃIĨNÑOÕUŨaãiĩnñoõuũ"},
    accent{"macr", '=', 0x304, U"AĀEĒIĪOŌUŪaāeēiīoōuū"},
    accent{"breve", 'u', 0x306, U"AĂEĔGĞIĬOŎUŬaăeĕgğiĭoŏuŭ"},
    accent{"dot", '.', 0x307, U"CĊEĖGĠIİZŻcċeėgġzż"},
    accent{"uml", '"', 0x308, U"AÄEËIÏOÖUÜYŸaäeëiïoöuüyÿ"},
    accent{"ring", 'r', 0x30a, U"AÅUŮaåuů"},
    accent{"dblac", 'H', 0x30b, U"OŐUŰoőuű"},
    accent{"caron", 'v', 0x30c, U"CČDĎEĚNŇRŘSŠTŤZŽcčdďeěnňrřsštťzž"},
    accent{"cedil", 'c', 0x327, U"CÇGĢKĶLĻNŅRŖSŞTŢcçgģkķlļnņrŗsştţ"},
    accent{"ogon", 'k', 0x328, U"AĄEĘIĮUŲaąeęiįuų"},
    accent{"slash", 'o', 0x338, U"OØoø"},
};

template <class Projection, class Value>
const accent* found(Projection of, Value value) {
    const auto place = std::ranges::find(accents, value, of);
    return place == accents.end() ? nullptr : &*place;
}

}  // namespace

char32_t code_point(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.empty()) return no_character;
    if (character.size() == 1) return byte(0) < 0x80 ? byte(0) : no_character;
    char32_t point = byte(0) & (0x7fU >> character.size());
    for (std::size_t i = 1; i < character.size(); ++i) point = point << 6 | (byte(i) & 0x3fU);
    return point;
}

void append(std::string& text, char32_t c) {
    const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
    const auto follow = [&](unsigned shift) { put(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x80) return put(c);
    if (c < 0x800) {
        put(0xc0 | c >> 6);
        return follow(0);
    }
    if (c < 0x10000) {
        put(0xe0 | c >> 12);
    } else {
        put(0xf0 | c >> 18);
        follow(12);
    }
    follow(6);
    follow(0);
}

std::u32string code_points(std::string_view text) {
    std::u32string points;
    for (const std::string_view character : characters(text)) points.push_back(code_point(character));
    return points;
}

std::string utf8(std::u32string_view text) {
    std::string bytes;
    for (const char32_t c : text) append(bytes, c);
    return bytes;
}

bool is_letter(char32_t c) {
    if (c < 0x80) return (c | 0x20U) >= 'a' && (c | 0x20U) <= 'z';
    const auto after = std::ranges::upper_bound(no_letters, c, {}, &block::first);
    return after == no_letters.begin() || c > std::prev(after)->last;
}

char32_t lower(char32_t c) {
    const auto after = std::ranges::upper_bound(cases, c, {}, &cased::first);
    if (after == cases.begin()) return c;
    const cased& in = *std::prev(after);
    const bool capital = c <= in.last && (in.distance != 1 || (c - in.first) % 2 == 0);
    return capital && c != 0x130 ? c + in.distance : c;  // İ has no small letter of its own
}

char32_t upper(char32_t c) {
    for (const cased& in : cases) {
        if (c >= in.distance && c - in.distance >= in.first && lower(c - in.distance) == c)
            return c - in.distance;
    }
    return c;
}

std::string lower(std::string_view text) {
    std::string small;
    for (const std::string_view character : characters(text)) {
        const char32_t c = code_point(character);
        if (c == no_character)
            small += character;
        else
            append(small, lower(c));
    }
    return small;
}

capitals capitals_of(std::string_view word) {
    std::size_t letters = 0, large = 0;
    bool first = false;
    for (const char32_t c : code_points(word)) {
        if (!is_letter(c)) continue;
        const bool capital = lower(c) != c;
        first |= capital && letters == 0;
        large += capital;
        ++letters;
    }
    if (large == 0) return capitals::none;
    if (large == 1 && first) return capitals::first;
    return large == letters ? capitals::all : capitals::mixed;
}

std::string with_first_capital(std::string_view word, bool others_lower) {
    std::u32string points = code_points(word);
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i == 0)
            points[i] = upper(points[i]);
        else if (others_lower)
            points[i] = lower(points[i]);
    }
    return utf8(points);
}

const accent* accent_of_entity(std::string_view name) { return found(&accent::entity, name); }
const accent* accent_of_latex(char name) { return found(&accent::latex, name); }
const accent* accent_of_combining(char32_t c) { return found(&accent::combining, c); }

std::optional<char32_t> compose(char32_t letter, const accent& with) {
    for (std::size_t i = 0; i + 1 < with.letters.size(); i += 2) {
        if (with.letters[i] == letter) return with.letters[i + 1];
    }
    return {};
}

char32_t bare(char32_t letter) {
    if (letter < 0x80) return letter;
    for (const accent& each : accents) {
        for (std::size_t i = 1; i < each.letters.size(); i += 2) {
            if (each.letters[i] == letter) return each.letters[i - 1];
        }
    }
    return letter;
}

}  // namespace posy::dictionary
