// Facts beside MLIR's types: rows of at least 2, columns by eights, a scale a row. Only the bias may stretch.
func.func @scaled_rows_plain(%x: tensor<?x?xf32> {bcastgen.dims = ["n>=2", "m%8"]},
                             %scale: tensor<?x1xf32> {bcastgen.dims = ["n", "bcast"]},
                             %bias: tensor<?x?xf32>) -> (tensor<?x?xf32> {bcastgen.dims = ["n", "m"]}) {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %scale, %shift : (tensor<?x?xf32>, tensor<?x1xf32>, tensor<1xi8>) -> tensor<?x?xf32>
  %1 = tosa.add %0, %bias : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
