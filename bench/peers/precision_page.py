def write(root, numbers):
    pass
