//! What the processor can do beyond what the target demands. Code for it is chosen while the program runs.

/// Whether there are vectors of 32 bytes, and the instructions on bits that processors have had for as long.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}

/// A function that is compiled twice: as the target demands, and for processors that [`has_avx2`](crate::cpu::has_avx2) knows.
macro_rules! compiled_twice {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name($($arg: $type),*) $(-> $result)? {
            #[inline(always)]
            fn body($($arg: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
                fn for_avx2($($arg: $type),*) $(-> $result)? {
                    body($($arg),*)
                }
                if $crate::cpu::has_avx2() {
                    #[expect(unsafe_code, reason = "only the caller knows what the processor can do")]
                    // SAFETY: the processor has just been asked for these instructions.
                    return unsafe { for_avx2($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}

pub(crate) use compiled_twice;
