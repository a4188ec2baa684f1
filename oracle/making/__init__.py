"""Files made by libhdf5 at random or for a purpose, and what libhdf5 says of them: the Python half of tests/files.rs."""
