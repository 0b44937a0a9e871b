"""Facts of a nest, such as between which numbers its integers lie; nothing here changes a nest."""
