/*
 * Files of a neuron, put and fetched: each is a write or a read call of its
 * live session.
 */
#ifndef APID_FILES_H
#define APID_FILES_H

struct conn;

void	route_file_get(struct conn *);
void	route_file_put(struct conn *);

#endif
