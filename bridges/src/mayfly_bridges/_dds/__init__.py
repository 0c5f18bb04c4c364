"""What the bridges over DDS share: types from interface definitions, a node, link poses."""
