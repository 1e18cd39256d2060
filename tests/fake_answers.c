/*
 * What the policyd of fake_policyd.c answers to all but calls.
 */
#include <sys/socket.h>
#include <err.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_answers.h"
#include "ids.h"
#include "limits.h"
#include "slice.h"

void
fake_reply(uint32_t request, unsigned status, uint32_t retry, const char *json)
{
	struct imsg *m = imsg_new(MSG_REPLY);

	imsg_put_u32(m, request);
	imsg_put_u16(m, (uint16_t)status);
	imsg_put_u32(m, retry);
	imsg_put_str(m, json);
	channel_send(fake_api, m);
}

int
fake_on_peer(void *arg, struct imsg *m)
{
	struct imsg *ok;
	uint32_t number = imsg_get_u32(m);
	struct ucred cred = { 0 };
	socklen_t size = sizeof(cred);
	char who[32];
	int fd;

	(void)arg;
	if (imsg_end(m) == -1)
		return (-1);
	fd = imsg_claim_fd(m, 0);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == -1)
		err(1, "SO_PEERCRED");
	close(fd);
	if (cred.uid == UNPRIVILEGED - 1) {
		ok = imsg_new(MSG_PEER_NO);
		imsg_put_u32(ok, number);
		imsg_put_str(ok, "uid:65533");
		imsg_put_str(ok, "no principal line matches");
		channel_send(fake_api, ok);
		return (0);
	}
	snprintf(who, sizeof(who), "uid:%u", cred.uid);
	ok = imsg_new(MSG_PEER_OK);
	imsg_put_u32(ok, number);
	imsg_put_u64(ok, number);
	imsg_put_u32(ok, cred.uid + 7);
	imsg_put_str(ok, who);
	channel_send(fake_api, ok);
	return (0);
}

static const char *
canned(unsigned what)
{
	switch (what) {
	case QUERY_WHOAMI:
		return ("{\"who\":\"uid:0\"}");
	case QUERY_TOOLS:
		return ("{\"tools\":[{\"name\":\"exec\",\"effect\":"
		    "\"mutate-irreversible\",\"marks\":[],\"asks\":false}]}");
	case QUERY_HEALTH:
		return ("{\"status\":\"ok\",\"version\":\"fake\"}");
	case QUERY_SESSION:
		return ("{\"state\":\"live\"}");
	case QUERY_SESSIONS:
		return ("{\"sessions\":[],\"next\":null}");
	case QUERY_STATUS:
		return ("{\"version\":\"fake\"}");
	default:
		return (NULL);
	}
}

int
fake_on_query(void *arg, struct imsg *m)
{
	uint32_t request = imsg_get_u32(m);
	uint64_t handle = imsg_get_u64(m), cursor;
	unsigned what = imsg_get_u8(m);
	char id[ID_SIZE], text[200];

	(void)arg;
	(void)handle;
	cursor = imsg_get_u64(m);
	(void)imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1)
		return (-1);
	if (what == QUERY_AUDIT) {
		snprintf(text, sizeof(text), "{\"lines\":[],\"next\":%llu,"
		    "\"head\":{\"synced\":0}}",
		    (unsigned long long)cursor);
		fake_reply(request, 200, 0, text);
	} else if (canned(what) != NULL)
		fake_reply(request, 200, 0, canned(what));
	else
		fake_reply(request, 404, 0,
		    "{\"error\":{\"code\":\"not_found\","
		    "\"message\":\"no such thing\"}}");
	return (0);
}

static int
open_any(struct imsg *m, int ruled)
{
	uint32_t request = imsg_get_u32(m);
	char id[ID_SIZE], text[200], profile[64], neuron[64];
	char workspace[PATH_BYTES_MAX], preset[64], rules[RULES_JSON_MAX + 1];

	(void)imsg_get_u64(m);
	(void)imsg_get_u8(m);
	(void)imsg_get_u32(m);
	(void)imsg_get_u32(m);
	(void)imsg_get_u32(m);
	imsg_get_str(m, profile, sizeof(profile));
	imsg_get_str(m, neuron, sizeof(neuron));
	imsg_get_str(m, workspace, sizeof(workspace));
	imsg_get_str(m, preset, sizeof(preset));
	if (ruled)
		imsg_get_str(m, rules, sizeof(rules));
	if (imsg_end(m) == -1)
		return (-1);
	if (strcmp(preset, "poor") == 0) {
		fake_reply(request, 429, 7, "{\"error\":{\"code\":"
		    "\"budget_exhausted\",\"message\":\"hourly: 3600\"}}");
	} else if (strcmp(preset, "broken") == 0) {
		fake_reply(request, 500, 0, "{\"error\":{\"code\":\"internal\","
		    "\"message\":\"secret\"}}");
	} else {
		id_make(ID_SESSION, id);
		snprintf(text, sizeof(text),
		    "{\"session\":\"%s\",\"state\":\"live\"}", id);
		fake_reply(request, 201, 0, text);
	}
	return (0);
}

int
fake_on_open(void *arg, struct imsg *m)
{
	(void)arg;
	return (open_any(m, 0));
}

int
fake_on_open_ruled(void *arg, struct imsg *m)
{
	(void)arg;
	return (open_any(m, 1));
}

/* Says what it was asked, for the test to look at. */
int
fake_on_home_make(void *arg, struct imsg *m)
{
	uint32_t request = imsg_get_u32(m), idle;
	char profile[64], workspace[PATH_BYTES_MAX], name[64], *text;
	char labels[8192];
	json_t *json;

	(void)arg;
	(void)imsg_get_u64(m);
	(void)imsg_get_u32(m);
	(void)imsg_get_u32(m);
	idle = imsg_get_u32(m);
	(void)imsg_get_u8(m);
	imsg_get_str(m, profile, sizeof(profile));
	imsg_get_str(m, workspace, sizeof(workspace));
	imsg_get_str(m, name, sizeof(name));
	imsg_get_str(m, labels, sizeof(labels));
	if (imsg_end(m) == -1)
		return (-1);
	if (strcmp(name, "taken") == 0) {
		fake_reply(request, 409, 0, "{\"error\":{\"code\":\"conflict\","
		    "\"message\":\"taken\"}}");
		return (0);
	}
	json = json_pack("{s:s,s:s,s:i}", "name", name, "labels", labels,
	    "idle_expiry", (int)idle);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	fake_reply(request, 201, 0, text);
	free(text);
	return (0);
}

int
fake_on_neurons_for(void *arg, struct imsg *m)
{
	uint32_t request = imsg_get_u32(m), most;
	char name[64], label[512], *text;
	uint64_t cursor;
	json_t *json;

	(void)arg;
	(void)imsg_get_u64(m);
	cursor = imsg_get_u64(m);
	most = imsg_get_u32(m);
	imsg_get_str(m, name, sizeof(name));
	imsg_get_str(m, label, sizeof(label));
	if (imsg_end(m) == -1)
		return (-1);
	json = json_pack("{s:s,s:s,s:I,s:i}", "name", name, "label", label,
	    "cursor", (json_int_t)cursor, "most", (int)most);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	fake_reply(request, 200, 0, text);
	free(text);
	return (0);
}

/* MCP's sessions by name: the id is made of it, so that it stays the same. */
int
fake_on_open_named(void *arg, struct imsg *m)
{
	uint32_t request = imsg_get_u32(m);
	char name[64], text[200], profile[64], workspace[PATH_BYTES_MAX];
	char preset[64];

	(void)arg;
	(void)imsg_get_u64(m);
	imsg_get_str(m, name, sizeof(name));
	imsg_get_str(m, profile, sizeof(profile));
	imsg_get_str(m, workspace, sizeof(workspace));
	imsg_get_str(m, preset, sizeof(preset));
	if (imsg_end(m) == -1)
		return (-1);
	snprintf(text, sizeof(text), "{\"session\":\"s-%s\",\"state\":"
	    "\"live\"}", name);
	fake_reply(request, 200, 0, text);
	return (0);
}

int
fake_on_end_named(void *arg, struct imsg *m)
{
	uint32_t request = imsg_get_u32(m);
	char name[64];

	(void)arg;
	(void)imsg_get_u64(m);
	imsg_get_str(m, name, sizeof(name));
	if (imsg_end(m) == -1)
		return (-1);
	fake_reply(request, 200, 0, "{}");
	return (0);
}

int
fake_on_tools_for(void *arg, struct imsg *m)
{
	uint32_t request = imsg_get_u32(m);
	char session[ID_SIZE], preset[64];

	(void)arg;
	(void)imsg_get_u64(m);
	imsg_get_str(m, session, sizeof(session));
	imsg_get_str(m, preset, sizeof(preset));
	if (imsg_end(m) == -1)
		return (-1);
	fake_reply(request, 200, 0, canned(QUERY_TOOLS));
	return (0);
}

int
fake_on_end(void *arg, struct imsg *m)
{
	uint32_t request = imsg_get_u32(m);
	char id[ID_SIZE], text[100];

	(void)arg;
	(void)imsg_get_u64(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1)
		return (-1);
	snprintf(text, sizeof(text), "{\"session\":\"%s\",\"state\":"
	    "\"ended\"}", id);
	fake_reply(request, 200, 0, text);
	return (0);
}

int
fake_on_transcript(void *arg, struct imsg *m)
{
	struct imsg *answer = imsg_new(MSG_TRANSCRIBED);
	char id[ID_SIZE], denied[1024];
	size_t size;

	(void)arg;
	(void)imsg_get_u64(m);
	imsg_get_str(m, id, sizeof(id));
	imsg_get_str(m, denied, sizeof(denied));
	if (imsg_type(m) == MSG_TRANSCRIPT_TEXT)
		(void)imsg_get_bytes(m, &size);
	if (imsg_end(m) == -1)
		return (-1);
	imsg_put_u8(answer, 1);
	imsg_put_str(answer, id);
	channel_send(fake_api, answer);
	return (0);
}
