"""What a suite is: a folder with a configuration, criteria, personas and data. The bundled ones lie in `bundled/`."""
