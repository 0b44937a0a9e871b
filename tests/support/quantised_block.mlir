// A quantised activation block: i8 in, i8 out, as networks on small devices have between two convolutions.
//
// The real value of a byte x is scale * (x - zero point). The block adds a residual to rescaled activations in integers,
// goes to f32 with a scale and a bias per channel, applies hardswish, halves what is below a threshold in f16, and
// requantises. Beside the bytes it returns which elements are saturated, the block's coarse level as an integer, the
// pre-activation, and what a full-precision network computes in place of hardswish: swish, gated by a channel's
// exponent, and a tanh of it. Integers and the pre-activation are exact; functions have the bounds of the TOSA
// specification.

!bytes = tensor<2x6x5x8xi8>
!words = tensor<2x6x5x8xi32>
!reals = tensor<2x6x5x8xf32>
!halves = tensor<2x6x5x8xf16>
!flags = tensor<2x6x5x8xi1>
!gate_bytes = tensor<2x1x1x8xi8>
!gate_reals = tensor<2x1x1x8xf32>
!channel_words = tensor<1x1x1x8xi32>
!channel_reals = tensor<1x1x1x8xf32>
!one_word = tensor<1x1x1x1xi32>
!one_real = tensor<1x1x1x1xf32>

func.func @quantised_block(%x: !bytes, %residual: !bytes, %gate: !gate_bytes)
    -> (!bytes, !flags, !words, !reals, !reals, !reals) {
  // Integers: ((x - zp) * multiplier) >> shift, per channel, plus the residual.
  %x_zp = "tosa.const"() <{values = dense<-3> : !one_word}> : () -> !one_word
  %r_zp = "tosa.const"() <{values = dense<5> : !one_word}> : () -> !one_word
  %multiplier = "tosa.const"() <{values = dense<[[[[1518500250, 1073741824, 1932735283, 1207959552, 1340029796,
      1717986918, 2147483647, 1288490189]]]]> : !channel_words}> : () -> !channel_words
  %down = "tosa.const"() <{values = dense<[[[[2, 3, 2, 4, 2, 3, 5, 2]]]]> : !channel_words}> : () -> !channel_words
  %three = "tosa.const"() <{values = dense<3> : !one_word}> : () -> !one_word
  %seven = "tosa.const"() <{values = dense<7> : !one_word}> : () -> !one_word
  %thirty = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %low = "tosa.const"() <{values = dense<-32768> : !one_word}> : () -> !one_word
  %high = "tosa.const"() <{values = dense<32767> : !one_word}> : () -> !one_word
  %x32 = tosa.cast %x : (!bytes) -> !words
  %x0 = tosa.sub %x32, %x_zp : (!words, !one_word) -> !words
  %wide = tosa.logical_left_shift %x0, %seven : (!words, !one_word) -> !words
  %scaled = tosa.mul %wide, %multiplier, %thirty : (!words, !channel_words, tensor<1xi8>) -> !words
  %narrow = tosa.arithmetic_right_shift %scaled, %down {round = true} : (!words, !channel_words) -> !words
  %r32 = tosa.cast %residual : (!bytes) -> !words
  %r0 = tosa.sub %r32, %r_zp : (!words, !one_word) -> !words
  %r1 = tosa.logical_left_shift %r0, %three : (!words, !one_word) -> !words
  %sum = tosa.add %narrow, %r1 : (!words, !words) -> !words
  %above = tosa.maximum %sum, %low : (!words, !one_word) -> !words
  %accumulator = tosa.minimum %above, %high : (!words, !one_word) -> !words

  // The level: how many steps of a channel's size, toward zero, without its lowest bit; its sign where it is odd.
  %steps = "tosa.const"() <{values = dense<[[[[7, 13, 100, 1, 25, 3, 64, 9]]]]> : !channel_words}> : () -> !channel_words
  %one = "tosa.const"() <{values = dense<1> : !one_word}> : () -> !one_word
  %zero = "tosa.const"() <{values = dense<0> : !one_word}> : () -> !one_word
  %mask = "tosa.const"() <{values = dense<-2> : !one_word}> : () -> !one_word
  %zp32 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %divided = tosa.intdiv %accumulator, %steps : (!words, !channel_words) -> !words
  %even = tosa.bitwise_and %divided, %mask : (!words, !one_word) -> !words
  %parity = tosa.bitwise_and %divided, %one : (!words, !one_word) -> !words
  %is_even = tosa.equal %parity, %zero : (!words, !one_word) -> !flags
  %size = tosa.abs %divided : (!words) -> !words
  %zeros = tosa.clz %size : (!words) -> !words
  %minus = tosa.negate %zeros, %zp32, %zp32 : (!words, tensor<1xi32>, tensor<1xi32>) -> !words
  %flipped = tosa.bitwise_xor %minus, %even : (!words, !words) -> !words
  %level = tosa.select %is_even, %even, %flipped : (!flags, !words, !words) -> !words

  // f32: scale and bias per channel, then hardswish.
  %scale = "tosa.const"() <{values = dense<[[[[0.0009765625, 0.0031, 9.1e-4, 0.0042, 0.00128, 1.9e-3, 0.0037, 0x3A83126F]]]]>
      : !channel_reals}> : () -> !channel_reals
  %bias = "tosa.const"() <{values = dense<[[[[0.0, -0.25, 1.0e-1, 0.5, -1.0, 2.0e-2, -0.0, 0.75]]]]> : !channel_reals}>
      : () -> !channel_reals
  %f3 = "tosa.const"() <{values = dense<3.0> : !one_real}> : () -> !one_real
  %sixth = "tosa.const"() <{values = dense<0.166666672> : !one_real}> : () -> !one_real
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %real = tosa.cast %accumulator : (!words) -> !reals
  %z0 = tosa.mul %real, %scale, %no_shift : (!reals, !channel_reals, tensor<1xi8>) -> !reals
  %z = tosa.add %z0, %bias : (!reals, !channel_reals) -> !reals
  %shifted = tosa.add %z, %f3 : (!reals, !one_real) -> !reals
  %relu6 = tosa.clamp %shifted {min_val = 0.0 : f32, max_val = 6.0 : f32} : (!reals) -> !reals
  %part = tosa.mul %relu6, %sixth, %no_shift : (!reals, !one_real, tensor<1xi8>) -> !reals
  %hardswish = tosa.mul %z, %part, %no_shift : (!reals, !reals, tensor<1xi8>) -> !reals

  // f16: what is below the channel's threshold is halved, to the floor of its 64th parts.
  %threshold = "tosa.const"() <{values = dense<[[[[0.0, 0.5, -0.125, 0.25, 1.0, 0.0, -0.25, 2.0]]]]> : !channel_reals}>
      : () -> !channel_reals
  %h32 = "tosa.const"() <{values = dense<32.0> : tensor<1x1x1x1xf16>}> : () -> tensor<1x1x1x1xf16>
  %h64th = "tosa.const"() <{values = dense<0x2400> : tensor<1x1x1x1xf16>}> : () -> tensor<1x1x1x1xf16>
  %half = tosa.cast %hardswish : (!reals) -> !halves
  %times = tosa.mul %half, %h32, %no_shift : (!halves, tensor<1x1x1x1xf16>, tensor<1xi8>) -> !halves
  %floored = tosa.floor %times : (!halves) -> !halves
  %coarse16 = tosa.mul %floored, %h64th, %no_shift : (!halves, tensor<1x1x1x1xf16>, tensor<1xi8>) -> !halves
  %coarse = tosa.cast %coarse16 : (!halves) -> !reals
  %greater = tosa.greater %z, %threshold : (!reals, !channel_reals) -> !flags
  %chosen = tosa.select %greater, %hardswish, %coarse : (!flags, !reals, !reals) -> !reals

  // Requantise: round half to even, saturate; which elements saturated is an operand of the next block's calibration.
  %inverse = "tosa.const"() <{values = dense<18.5> : !one_real}> : () -> !one_real
  %out_zp = "tosa.const"() <{values = dense<-7.0> : !one_real}> : () -> !one_real
  %most = "tosa.const"() <{values = dense<127.0> : !one_real}> : () -> !one_real
  %least = "tosa.const"() <{values = dense<-128.0> : !one_real}> : () -> !one_real
  %steps32 = tosa.mul %chosen, %inverse, %no_shift : (!reals, !one_real, tensor<1xi8>) -> !reals
  %placed = tosa.add %steps32, %out_zp : (!reals, !one_real) -> !reals
  %bounded = tosa.clamp %placed {min_val = -128.0 : f32, max_val = 127.0 : f32} : (!reals) -> !reals
  %quantised = tosa.cast %bounded : (!reals) -> !bytes
  %over = tosa.greater_equal %placed, %most : (!reals, !one_real) -> !flags
  %under = tosa.greater_equal %least, %placed : (!one_real, !reals) -> !flags
  %outside = tosa.logical_or %over, %under : (!flags, !flags) -> !flags
  %not_even = tosa.logical_not %is_even : (!flags) -> !flags
  %saturated = tosa.logical_and %outside, %not_even : (!flags, !flags) -> !flags

  // Full precision: swish, gated; and its tanh.
  %gate_scale = "tosa.const"() <{values = dense<0.015625> : !one_real}> : () -> !one_real
  %g0 = tosa.cast %gate : (!gate_bytes) -> !gate_reals
  %g1 = tosa.mul %g0, %gate_scale, %no_shift : (!gate_reals, !one_real, tensor<1xi8>) -> !gate_reals
  %weight = tosa.exp %g1 : (!gate_reals) -> !gate_reals
  %sigmoid = tosa.sigmoid %z : (!reals) -> !reals
  %swish = tosa.mul %z, %sigmoid, %no_shift : (!reals, !reals, tensor<1xi8>) -> !reals
  %gated = tosa.mul %swish, %weight, %no_shift : (!reals, !gate_reals, tensor<1xi8>) -> !reals
  %squashed = tosa.tanh %z : (!reals) -> !reals
  return %quantised, %saturated, %level, %z, %gated, %squashed : !bytes, !flags, !words, !reals, !reals, !reals
}
