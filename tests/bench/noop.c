/*
 * The least program there is: exits with 0, without a C library.  Built with
 * -static -nostdlib.
 */
void _start(void);

void
_start(void)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = 93;
	register long x0 __asm__("x0") = 0;
	__asm__ volatile("svc 0" : : "r"(x8), "r"(x0));
#endif
	__builtin_unreachable();
}
