"""One module per resource; each exports ``ROUTES``."""
