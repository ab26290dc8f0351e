// The filters of Spark, Guava, Hadoop and Parquet, by the classes of these programs themselves: builds them from keys, and
// answers which keys a file's filter may contain. No bit is computed here.
//
// Commands come one in a line of standard input, and each is answered by a line: "done", or "error" and the reason.
//
//   build FORMAT ITEMS RATE SEED TYPE KEYS OUTPUT     a filter of the size that the program chooses
//   query FORMAT TYPE FILTER KEYS OUTPUT              writes the keys that may be there
//   serialise FORMAT OUTPUT                           an empty one, by Java's own serialisation
//   delete KEYS FILTER OUTPUT                         a counting filter of Hadoop without these keys
//   clear KEYS FILTER OUTPUT                          a retouched filter of Hadoop, without these false positives
//
// TYPE is text or integers. The seed is that of Spark's second version; of Hadoop's it is the number of the hash.
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.util.bloom.CountingBloomFilter;
import org.apache.hadoop.util.bloom.DynamicBloomFilter;
import org.apache.hadoop.util.bloom.Filter;
import org.apache.hadoop.util.bloom.Key;
import org.apache.hadoop.util.bloom.RemoveScheme;
import org.apache.hadoop.util.bloom.RetouchedBloomFilter;
import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter;
import org.apache.parquet.format.BloomFilterAlgorithm;
import org.apache.parquet.format.BloomFilterCompression;
import org.apache.parquet.format.BloomFilterHash;
import org.apache.parquet.format.BloomFilterHeader;
import org.apache.parquet.format.SplitBlockAlgorithm;
import org.apache.parquet.format.Uncompressed;
import org.apache.parquet.format.Util;
import org.apache.parquet.format.XxHash;
import org.apache.parquet.io.api.Binary;
import org.apache.spark.util.sketch.BloomFilter;

public class Peers {
    // A filter as its program has it. A key is text or a long, each put by the method that is for it.
    interface Peer {
        void put(String key);
        void put(long key);
        boolean mightContain(String key);
        boolean mightContain(long key);
        void write(OutputStream to) throws IOException;
    }

    record Spark(BloomFilter filter) implements Peer {
        static Spark make(BloomFilter.Version version, long items, double rate, int seed) {
            return new Spark(BloomFilter.create(version, items, BloomFilter.optimalNumOfBits(items, rate), seed));
        }
        public void put(String key) { filter.putString(key); }
        public void put(long key) { filter.putLong(key); }
        public boolean mightContain(String key) { return filter.mightContainString(key); }
        public boolean mightContain(long key) { return filter.mightContainLong(key); }
        public void write(OutputStream to) throws IOException { filter.writeTo(to); }
    }

    // One filter is read by two funnels.
    static final class Guava implements Peer {
        private com.google.common.hash.BloomFilter<CharSequence> texts;
        private com.google.common.hash.BloomFilter<Long> longs;
        private boolean ofLongs;

        private static final Funnel<CharSequence> TEXT = Funnels.stringFunnel(StandardCharsets.UTF_8);

        // The narrow strategy cannot be asked for, but an empty filter is read as one of it.
        static Guava make(boolean wide, long items, double rate) throws IOException {
            var bytes = new ByteArrayOutputStream();
            com.google.common.hash.BloomFilter.create(TEXT, items, rate).writeTo(bytes);
            byte[] empty = bytes.toByteArray();
            empty[0] = (byte) (wide ? 1 : 0);
            return new Guava(empty);
        }
        Guava(byte[] bytes) throws IOException {
            texts = com.google.common.hash.BloomFilter.readFrom(new ByteArrayInputStream(bytes), TEXT);
            longs = com.google.common.hash.BloomFilter.readFrom(new ByteArrayInputStream(bytes), Funnels.longFunnel());
        }
        public void put(String key) { texts.put(key); }
        public void put(long key) {
            ofLongs = true;
            longs.put(key);
        }
        public boolean mightContain(String key) { return texts.mightContain(key); }
        public boolean mightContain(long key) { return longs.mightContain(key); }
        public void write(OutputStream to) throws IOException {
            if (ofLongs) longs.writeTo(to); else texts.writeTo(to);
        }
    }

    record Hadoop(Filter filter) implements Peer {
        // As its BloomMapFile chooses the size.
        static Hadoop make(String kind, long items, double rate, int hash) {
            final int hashes = 5;
            int bits = (int) Math.ceil(-hashes * (double) items / Math.log(1.0 - Math.pow(rate, 1.0 / hashes)));
            return new Hadoop(switch (kind) {
                case "hadoop" -> new org.apache.hadoop.util.bloom.BloomFilter(bits, hashes, hash);
                case "hadoop-counting" -> new CountingBloomFilter(bits, hashes, hash);
                case "hadoop-dynamic" -> new DynamicBloomFilter(bits, hashes, hash, (int) items);
                default -> new RetouchedBloomFilter(bits, hashes, hash);
            });
        }
        static Hadoop read(String kind, byte[] bytes) throws IOException {
            Filter filter = switch (kind) {
                case "hadoop" -> new org.apache.hadoop.util.bloom.BloomFilter();
                case "hadoop-counting" -> new CountingBloomFilter();
                case "hadoop-dynamic" -> new DynamicBloomFilter();
                default -> new RetouchedBloomFilter();
            };
            var in = new ByteArrayInputStream(bytes);
            filter.readFields(new DataInputStream(in));
            if (in.available() != 0) throw new IOException(in.available() + " bytes were not read");
            return new Hadoop(filter);
        }
        static Key keyOf(String key) { return new Key(key.getBytes(StandardCharsets.UTF_8)); }
        static Key keyOf(long key) {
            return new Key(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(key).array());
        }
        public void put(String key) { filter.add(keyOf(key)); }
        public void put(long key) { filter.add(keyOf(key)); }
        public boolean mightContain(String key) { return filter.membershipTest(keyOf(key)); }
        public boolean mightContain(long key) { return filter.membershipTest(keyOf(key)); }
        public void write(OutputStream to) throws IOException { filter.write(new DataOutputStream(to)); }
    }

    record Parquet(BlockSplitBloomFilter filter) implements Peer {
        static Parquet make(long items, double rate) {
            return new Parquet(new BlockSplitBloomFilter(BlockSplitBloomFilter.optimalNumOfBits(items, rate) / 8));
        }
        static Parquet read(byte[] bytes) throws IOException {
            var in = new ByteArrayInputStream(bytes);
            BloomFilterHeader header = Util.readBloomFilterHeader(in);
            byte[] blocks = in.readAllBytes();
            if (header.getNumBytes() != blocks.length)
                throw new IOException(blocks.length + " bytes of " + header.getNumBytes());
            return new Parquet(new BlockSplitBloomFilter(blocks));
        }
        public void put(String key) { filter.insertHash(filter.hash(Binary.fromString(key))); }
        public void put(long key) { filter.insertHash(filter.hash(key)); }
        public boolean mightContain(String key) { return filter.findHash(filter.hash(Binary.fromString(key))); }
        public boolean mightContain(long key) { return filter.findHash(filter.hash(key)); }
        public void write(OutputStream to) throws IOException {
            Util.writeBloomFilterHeader(
                new BloomFilterHeader(filter.getBitsetSize(), BloomFilterAlgorithm.BLOCK(new SplitBlockAlgorithm()),
                    BloomFilterHash.XXHASH(new XxHash()), BloomFilterCompression.UNCOMPRESSED(new Uncompressed())),
                to);
            filter.writeTo(to);
        }
    }

    static Peer make(String format, long items, double rate, int seed) throws IOException {
        return switch (format) {
            case "spark-v1" -> Spark.make(BloomFilter.Version.V1, items, rate, 0);
            case "spark-v2" -> Spark.make(BloomFilter.Version.V2, items, rate, seed);
            case "guava-32" -> Guava.make(false, items, rate);
            case "guava-64" -> Guava.make(true, items, rate);
            case "parquet" -> Parquet.make(items, rate);
            default -> Hadoop.make(format, items, rate, seed);
        };
    }

    static Peer read(String format, byte[] bytes) throws IOException {
        return switch (format) {
            case "spark-v1", "spark-v2" -> new Spark(BloomFilter.readFrom(bytes));
            case "guava-32", "guava-64" -> new Guava(bytes);
            case "parquet" -> Parquet.read(bytes);
            default -> Hadoop.read(format, bytes);
        };
    }

    static void save(String path, Peer peer) throws IOException {
        try (OutputStream out = Files.newOutputStream(Path.of(path))) {
            peer.write(out);
        }
    }

    static void run(String[] words) throws Exception {
        switch (words[0]) {
            case "build" -> {
                Peer peer = make(words[1], Long.parseLong(words[2]), Double.parseDouble(words[3]), Integer.parseInt(words[4]));
                boolean integers = words[5].equals("integers");
                for (String key : Files.readAllLines(Path.of(words[6])))
                    if (integers) peer.put(Long.parseLong(key)); else peer.put(key);
                save(words[7], peer);
            }
            case "query" -> {
                Peer peer = read(words[1], Files.readAllBytes(Path.of(words[3])));
                boolean integers = words[2].equals("integers");
                List<String> found = new ArrayList<>();
                for (String key : Files.readAllLines(Path.of(words[4])))
                    if (integers ? peer.mightContain(Long.parseLong(key)) : peer.mightContain(key)) found.add(key);
                Files.write(Path.of(words[5]), found);
            }
            case "serialise" -> {
                try (var out = new ObjectOutputStream(Files.newOutputStream(Path.of(words[2])))) {
                    out.writeObject(words[1].equals("guava-64")
                        ? com.google.common.hash.BloomFilter.create(Funnels.longFunnel(), 100, 0.01)
                        : BloomFilter.create(100));
                }
            }
            case "delete" -> {
                Hadoop counting = Hadoop.read("hadoop-counting", Files.readAllBytes(Path.of(words[2])));
                for (String key : Files.readAllLines(Path.of(words[1])))
                    ((CountingBloomFilter) counting.filter()).delete(Hadoop.keyOf(key));
                save(words[3], counting);
            }
            case "clear" -> {
                Hadoop retouched = Hadoop.read("hadoop-retouched", Files.readAllBytes(Path.of(words[2])));
                var filter = (RetouchedBloomFilter) retouched.filter();
                for (String key : Files.readAllLines(Path.of(words[1]))) {
                    if (!filter.membershipTest(Hadoop.keyOf(key))) continue;  // another's bit was its own
                    filter.addFalsePositive(Hadoop.keyOf(key));
                    filter.selectiveClearing(Hadoop.keyOf(key), RemoveScheme.MINIMUM_FN);
                }
                save(words[3], retouched);
            }
            default -> throw new IllegalArgumentException("no command " + words[0]);
        }
    }

    public static void main(String[] args) throws IOException {
        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = commands.readLine()) != null;) {
            try {
                run(line.split(" "));
                System.out.println("done");
            } catch (Exception reason) {
                System.out.println("error " + reason);
            }
            System.out.flush();
        }
    }
}
