// Two machines intersect their sets by a Bloom filter (Reynolds & Vahdat 2003; Broder & Mitzenmacher 2004,
// 5.3). The first sends the filter of its a items, m bits; the second has b, and sends the name of each of
// its items that the filter lets through, j bits per name.
#pragma once

namespace posy::theory {

// m + j (c + f (b − c)), where c items are common and f = 0.6185^(m/a): filter, common items and false
// positives.
double intersection_bits(double a, double b, double common, double name_bits, double filter_bits);

// The m that makes it least. The derivative is 1 − j (b − c) (ln 2)²/a · e^(−(ln 2)² m/a), so m = a/(ln 2)² ·
// ln(j (b − c) (ln 2)²/a), and 0 where that is negative: then the names themselves are fewer bits than any
// filter. (The paper takes c = 0, and prints 1/(ln 2)² as 2.081.)
double intersection_filter_bits(double a, double b, double common, double name_bits);

}  // namespace posy::theory
