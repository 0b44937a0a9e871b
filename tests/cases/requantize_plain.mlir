// From i32 sums to i8: a bias and a scale a channel, rounded, with a zero point, clamped.
func.func @requantize_plain(%sum: tensor<?x4xi32>, %shift: tensor<1x4xi32>) -> tensor<?x4xi8> {
  %bias = "tosa.const"() <{values = dense<[[12, -7, 0, 2147483647]]> : tensor<1x4xi32>}> : () -> tensor<1x4xi32>
  %zero_point = "tosa.const"() <{values = dense<-3> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %0 = tosa.add %sum, %bias : (tensor<?x4xi32>, tensor<1x4xi32>) -> tensor<?x4xi32>
  %1 = tosa.arithmetic_right_shift %0, %shift {round = true} : (tensor<?x4xi32>, tensor<1x4xi32>) -> tensor<?x4xi32>
  %2 = tosa.add %1, %zero_point : (tensor<?x4xi32>, tensor<1x1xi32>) -> tensor<?x4xi32>
  %3 = tosa.clamp %2 {min_val = -128 : i32, max_val = 127 : i32} : (tensor<?x4xi32>) -> tensor<?x4xi32>
  %4 = tosa.cast %3 : (tensor<?x4xi32>) -> tensor<?x4xi8>
  return %4 : tensor<?x4xi8>
}
