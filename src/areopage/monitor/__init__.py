"""Front door: how good are our answers in production?"""
