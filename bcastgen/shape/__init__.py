"""What is statically known of shapes: dims, types, broadcasting, verification.

In: types.  Out: iteration domains, verdicts, and the constraints left to run time.

    infer_broadcast("f32[?, 1]", "f32[3]") -> f32[?, 3]

Nothing is imported here, so that who needs `dim` and `tensor_type` does not pay for the rest.
"""
