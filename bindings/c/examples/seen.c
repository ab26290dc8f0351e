#include <inttypes.h>
#include <posy.h>
#include <stdio.h>
#include <stdlib.h>

static void check(posy_status status, const posy_error *why) {
    if (status == POSY_OK) return;
    fprintf(stderr, "%s: %s\n", posy_status_name(status), why->text);
    exit(1);
}

int main(void) {
    posy_error why;
    posy_filter *seen, *again;
    check(posy_filter_make(100000, 0.001, &seen, &why), &why); /* items, false-positive rate */

    static uint64_t numbers[100000];
    for (size_t i = 0; i < 100000; ++i) numbers[i] = i;
    const posy_keys keys = posy_keys_u64(numbers, 100000);
    check(posy_filter_insert_many(seen, &keys, 1, &why), &why);
    check(posy_filter_insert_text(seen, "alice", &why), &why);

    int mistaken = 0;
    for (uint64_t i = 100000; i < 1100000; ++i) mistaken += posy_filter_may_contain_u64(seen, i);
    printf("alice: %d, bob: %d\n", posy_filter_may_contain_text(seen, "alice"), posy_filter_may_contain_text(seen, "bob"));
    printf("%d of a million absent keys seem to be there\n", mistaken);

    check(posy_filter_save(seen, "seen.posy", POSY_SMALLEST, &why), &why);
    check(posy_filter_load("seen.posy", 0, &again, &why), &why);
    posy_filter_info info = {.struct_size = sizeof info};
    check(posy_filter_info_of(again, &info, &why), &why);
    printf("%" PRIu64 " bits, %" PRIu64 " insertions, equal: %d\n", info.bits, info.items, posy_filter_equal(seen, again));

    posy_filter_free(again);
    posy_filter_free(seen);

    if (posy_filter_load("nowhere.posy", 0, &again, &why)) printf("%s\n", why.text);
    return 0;
}
