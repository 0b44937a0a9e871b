/* Which places of the extension ran: gcc calls this at each branch, with -fsanitize-coverage=trace-pc. */

extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* the linker's name of where the library begins */

unsigned char bcg_hits[1 << 21];

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    const unsigned long at = (unsigned long)((const char *)__builtin_return_address(0) - __ehdr_start);
    if (at < sizeof bcg_hits) bcg_hits[at] = 1;
}
