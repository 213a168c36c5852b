// SPDX-License-Identifier: MIT

// gocheck VKEY TILES [EVENT PROOF]: tiles against Go's own tlog. Every record's
// hash is read back through tiles, the tree of each smaller power of two and of
// the records is a beginning of the whole, and the root is the one of the signed
// note. With EVENT and PROOF, what `deedlog prove` wrote is in that tree.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must(err error) {
	if err != nil {
		fmt.Println("BAD", err)
		os.Exit(1)
	}
}

func need(true bool, text string) {
	if !true {
		must(fmt.Errorf("%s", text))
	}
}

type tree struct {
	n    int64
	root tlog.Hash
}

// The note's text is origin, size, root; its signature must be the key's.
func openNote(vkey string, text []byte) tree {
	verifier, err := note.NewVerifier(vkey)
	must(err)
	opened, err := note.Open(text, note.VerifierList(verifier))
	must(err)
	lines := strings.Split(opened.Text, "\n")
	need(len(lines) == 4 && lines[0] == verifier.Name(), "the note is of another log")
	n, err := strconv.ParseInt(lines[1], 10, 64)
	must(err)
	root, err := tlog.ParseHash(lines[2])
	must(err)
	return tree{n, root}
}

// Tiles in a folder, under the paths of c2sp.org/tlog-tiles: Go's have the height in them.
type folder struct {
	dir  string
	tree tree
}

func (f folder) Height() int { return 8 }

func (f folder) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, tile := range tiles {
		bytes, err := os.ReadFile(filepath.Join(f.dir, "tile", strings.TrimPrefix(tile.Path(), "tile/8/")))
		if err != nil {
			return nil, err
		}
		data = append(data, bytes)
	}
	return data, nil
}

func (f folder) SaveTiles([]tlog.Tile, [][]byte) {}

// The records of tile/entries, each with its length in front.
func (f folder) entries() [][]byte {
	var all [][]byte
	for bundle := int64(0); bundle*256 < f.tree.n; bundle++ {
		tile := tlog.Tile{H: 8, L: 0, N: bundle, W: 256}
		if left := f.tree.n - bundle*256; left < 256 {
			tile.W = int(left)
		}
		path := strings.TrimPrefix(tile.Path(), "tile/8/0/")
		data, err := os.ReadFile(filepath.Join(f.dir, "tile", "entries", path))
		must(err)
		for len(data) > 0 {
			n := int(binary.BigEndian.Uint16(data))
			all = append(all, data[2:2+n])
			data = data[2+n:]
		}
	}
	return all
}

func checkTiles(f folder) {
	reader := tlog.TileHashReader(tlog.Tree{N: f.tree.n, Hash: f.tree.root}, f)
	root, err := tlog.TreeHash(f.tree.n, reader)
	must(err)
	need(root == f.tree.root, "the tiles have another root")
	entries := f.entries()
	need(int64(len(entries)) == f.tree.n, "the bundles have another number of entries")
	for i, entry := range entries {
		if i > 8 && i%37 != 0 && int64(i) < f.tree.n-8 {
			continue
		}
		proof, err := tlog.ProveRecord(f.tree.n, int64(i), reader)
		must(err)
		must(tlog.CheckRecord(proof, f.tree.n, root, int64(i), tlog.RecordHash(entry)))
	}
	for n := int64(1); n <= f.tree.n; n *= 2 {
		older, err := tlog.TreeHash(n, reader)
		must(err)
		proof, err := tlog.ProveTree(f.tree.n, n, reader)
		must(err)
		must(tlog.CheckTree(proof, f.tree.n, root, n, older))
	}
}

func checkProof(vkey, event, file string, want tree) {
	text, err := os.ReadFile(file)
	must(err)
	leaf, err := os.ReadFile(event)
	must(err)
	head, signed, found := bytes.Cut(text, []byte("\n\n"))
	need(found, "the proof has no checkpoint")
	lines := strings.Split(string(head), "\n")
	need(lines[0] == "c2sp.org/tlog-proof@v1" && strings.HasPrefix(lines[1], "index "), "no tlog-proof")
	index, err := strconv.ParseInt(lines[1][6:], 10, 64)
	must(err)
	var proof tlog.RecordProof
	for _, line := range lines[2:] {
		hash, err := base64.StdEncoding.DecodeString(line)
		must(err)
		proof = append(proof, tlog.Hash(*(*[32]byte)(hash)))
	}
	tree := openNote(vkey, signed)
	need(tree == want, "the proof is of another tree")
	must(tlog.CheckRecord(proof, tree.n, tree.root, index, tlog.RecordHash(leaf)))
}

func main() {
	text, err := os.ReadFile(filepath.Join(os.Args[2], "checkpoint"))
	must(err)
	f := folder{os.Args[2], openNote(os.Args[1], text)}
	checkTiles(f)
	if len(os.Args) > 4 {
		checkProof(os.Args[1], os.Args[3], os.Args[4], f.tree)
	}
	fmt.Println("OK", f.tree.n)
}
